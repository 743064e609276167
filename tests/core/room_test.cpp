// SPDX-License-Identifier: MIT
// Where there is no room: what `peek` foresees is what `check` finds, and who waits as long as the answer says finds
// room.
#include <cstdint>
#include <string>

#include "catch.hpp"
#include "random.hpp"
#include "tierlimit/limiter.hpp"

namespace {

using tierlimit::Decision;
using tierlimit::LimiterOptions;
using tierlimit::Reason;
using tierlimit::TierLimiter;

// One to four limits of any kind, small enough for their logs to count beside the table.
std::string any_policy(Random& random) {
  std::string limits;
  const std::uint64_t count = 1 + random.below(4);
  for (std::uint64_t i = 0; i < count; ++i) {
    limits += (i == 0 ? R"({"name": "l)" : R"(, {"name": "l)") + std::to_string(i) + R"(", )";
    const std::string size = std::to_string(1 + random.bits(6));
    const std::string seconds = std::to_string(1 + random.below(20));
    switch (random.below(4)) {
      case 0: limits += R"("capacity": )" + size + R"(, "refill": {"tokens": 3, "seconds": )" + seconds + "}}"; break;
      case 1:
        limits += R"("algorithm": "fixed-window", "limit": )" + size + R"(, "windowSeconds": )" + seconds + "}";
        break;
      default:
        limits += R"("algorithm": "sliding-window", "limit": )" + size + R"(, "windowSeconds": )" + seconds + "}";
    }
  }
  return R"({"limits": [)" + limits + "]}";
}

LimiterOptions any_options(Random& random) {
  LimiterOptions options;
  if (random.chance(2)) options.max_bytes = 700 + random.bits(14);
  if (random.chance(2)) options.max_clients = static_cast<std::uint32_t>(1 + random.below(60));
  options.on_full = random.chance(3) ? LimiterOptions::OnFull::evict : LimiterOptions::OnFull::deny;
  options.sweep = !random.chance(4);
  return options;
}

}  // namespace

TEST_CASE("room: peek foresees what check will find, whatever is full") {
  Random random(20261201);
  int full = 0;
  for (int run = 0; run < 400; ++run) {
    CAPTURE(run);
    const LimiterOptions options = any_options(random);
    TierLimiter limiter(options);
    REQUIRE(limiter.set_policies(R"({"default": )" + any_policy(random) + "}").ok());
    REQUIRE(limiter.seed({random.next(), random.next()}));
    std::int64_t now = 0;
    for (int i = 0; i < 300; ++i) {
      CAPTURE(i);
      now += random.between(0, 1 << random.below(22));
      const std::string client = std::to_string(random.below(40));
      const std::uint64_t cost = 1 + random.bits(2);
      const std::uint64_t bytes = limiter.stats().bytes;
      const Decision foreseen = limiter.peek({.client = client, .cost = cost}, now).value();
      REQUIRE(limiter.stats().bytes == bytes);
      const Decision made = limiter.check({.client = client, .cost = cost}, now).value();
      REQUIRE(foreseen.reason == made.reason);
      REQUIRE(foreseen.retry == made.retry);
      if (!made.allowed) REQUIRE(foreseen.limit_name == made.limit_name);
      REQUIRE(limiter.stats().bytes <= options.max_bytes);
      full += static_cast<int>(made.reason == Reason::table_full);
    }
  }
  CHECK(full > 1000);
}

TEST_CASE("room: who waits as long as the answer says finds room, and for a place by one limit no earlier") {
  Random random(20261202);
  int waited = 0;
  for (int run = 0; run < 400; ++run) {
    CAPTURE(run);
    const LimiterOptions options = any_options(random);
    TierLimiter limiter(options);
    const std::string policy = any_policy(random);
    const bool logs = policy.find("sliding") != std::string::npos;
    REQUIRE(limiter.set_policies(R"({"default": )" + policy + "}").ok());
    REQUIRE(limiter.seed({random.next(), random.next()}));
    std::int64_t now = 0;
    for (int i = 0; i < 300; ++i) {
      CAPTURE(i);
      now += random.between(0, 1 << random.below(20));
      const std::string client = std::to_string(random.below(40));
      const Decision refused = limiter.check({.client = client}, now).value();
      if (refused.reason != Reason::table_full || !refused.retry) continue;
      ++waited;
      const auto later = now + static_cast<std::int64_t>(*refused.retry);
      REQUIRE(limiter.peek({.client = client}, later).value().reason == Reason::ok);
      // Of several limits others may have gone earlier than those that are counted on, and more of them for a log.
      if (logs || refused.limits.size() > 1) continue;
      REQUIRE(limiter.peek({.client = client}, later - 1).value().reason == Reason::table_full);
    }
  }
  CHECK(waited > 1000);
}

TEST_CASE("room: a log grows at the expense of many short ones, however long it is") {
  for (const auto on_full : {LimiterOptions::OnFull::evict, LimiterOptions::OnFull::deny}) {
    TierLimiter limiter({.max_bytes = 1 << 20, .on_full = on_full});
    REQUIRE(limiter.set_policies(R"({"default": {"algorithm": "sliding-window", "limit": 1000, "windowSeconds": 60}})")
                .ok());
    REQUIRE(limiter.seed({1, 2}));
    std::int64_t now = 0;
    for (int i = 0; i < 20'000; ++i) static_cast<void>(limiter.check({.client = std::to_string(i)}, ++now));
    // Those who are refused make way only when they are full again.
    if (on_full == LimiterOptions::OnFull::deny) now += 61'000'000;
    int admitted = 0;
    for (int i = 0; i < 1000; ++i)
      admitted += static_cast<int>(limiter.check({.client = "long"}, ++now).value().allowed);
    CHECK(admitted == 1000);
  }
}
