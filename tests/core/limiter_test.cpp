// SPDX-License-Identifier: MIT
#include "tierlimit/limiter.hpp"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "random.hpp"
#include "tierlimit/micros.hpp"

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
#include <malloc.h>
#define TIERLIMIT_TEST_HEAP
#endif
#endif

using tierlimit::Decision;
using tierlimit::Error;
using tierlimit::ErrorCode;
using tierlimit::Judgement;
using tierlimit::LimiterOptions;
using tierlimit::LimiterStats;
using tierlimit::max_cost;
using tierlimit::max_micros;
using tierlimit::Reason;
using tierlimit::Request;
using tierlimit::Secret;
using tierlimit::TierChoice;
using tierlimit::TierLimiter;
using OnFull = tierlimit::LimiterOptions::OnFull;
using Tier = std::optional<std::string_view>;

namespace {

constexpr std::int64_t second = 1'000'000;
constexpr Secret secret = {0x0123456789abcdef, 0xfedcba9876543210};

std::string text(const std::optional<std::uint64_t>& wait) { return wait ? std::to_string(*wait) : "never"; }

// All that a decision says but `window` and `more`, which have tests of their own.
std::string text(const Decision& decision) {
  return std::string(decision.allowed ? "admitted" : "denied")
      .append(" limit ")
      .append(std::to_string(decision.limit))
      .append(" remaining ")
      .append(std::to_string(decision.remaining))
      .append(" retry ")
      .append(text(decision.retry))
      .append(" reset ")
      .append(text(decision.reset))
      .append(" tier ")
      .append(decision.tier ? std::string(*decision.tier) : "-")
      .append(" ")
      .append(to_string(decision.reason))
      .append(" ")
      .append(to_string(decision.fallback));
}

// A limiter in the hands of a host who asks only what can be answered; `error` is for the rest.
struct Host {
  TierLimiter limiter;

  explicit Host(std::string_view policies, const LimiterOptions& options = {}) : limiter(options) {
    limiter.seed(secret);
    load(policies);
  }
  void load(std::string_view policies) {
    const auto loaded = limiter.set_policies(policies);
    INFO(policies);
    REQUIRE(loaded.ok());
  }
  void set_tier(std::string_view client, Tier tier) { REQUIRE(limiter.set_tier(client, tier).ok()); }

  Decision check(std::string_view client, std::int64_t now, std::uint64_t cost = 1, Tier tier = {}) {
    return answer(limiter.check({client, cost, tier}, now));
  }
  Decision peek(std::string_view client, std::int64_t now, std::uint64_t cost = 1, Tier tier = {}) {
    return answer(limiter.peek({client, cost, tier}, now));
  }
  bool take(std::string_view client, std::int64_t now, std::uint64_t cost = 1, Tier tier = {}) {
    return check(client, now, cost, tier).allowed;
  }
  // The whole tokens in a client's bucket, asked without touching it.
  std::int64_t tokens(std::string_view client, std::int64_t now, Tier tier = {}) {
    return peek(client, now, 1, tier).remaining;
  }
  // Others come and go, so that every slot of the table is looked at.
  void bustle(std::int64_t now) {
    // Three rounds of the sweep over 32 slots, at two decisions a slot.
    for (std::uint32_t i = 0; i < 3 * 32 * 2 + 64; ++i) check("passer-by", now);
  }

 private:
  static Decision answer(const tierlimit::Result<Decision>& result) {
    if (!result.ok()) FAIL(result.error().message.view());
    return result.value();
  }
};

Error error(const tierlimit::Result<Decision>& result) {
  REQUIRE_FALSE(result.ok());
  CHECK_FALSE(result.error().message.empty());
  return result.error();
}

constexpr const char* five_a_second = R"({"default": {"capacity": 5, "refillPerSecond": 1}})";

constexpr const char* tiered = R"({
  "default": {"capacity": 5, "refillPerSecond": 1},
  "tiers": {
    "free": {"capacity": 5, "refillPerSecond": 1},
    "pro": {"capacity": 100, "refill": {"tokens": 100, "seconds": 60}},
    "broken": {"capacity": 0, "refillPerSecond": 1},
    "later": {"capacity": 10, "refillPerSecond": 1, "onStoreError": "local"}
  },
  "clients": {"acme": "pro", "lost": "nowhere", "damaged": "broken"}
})";

// Bytes allocated, where that can be told (not under AddressSanitizer, which has an allocator of its own).
std::size_t heap() {
#ifdef TIERLIMIT_TEST_HEAP
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

std::string one_limit(const std::string& capacity, const std::string& per_second) {
  return R"({"default": {"capacity": )" + capacity + R"(, "refillPerSecond": )" + per_second + "}}";
}

}  // namespace

// ---- One client ----------------------------------------------------------------------------------------------------

TEST_CASE("limiter: the worked case") {
  Host host(five_a_second);
  for (int left = 4; left >= 0; --left) {
    const Decision decision = host.check("acme", 0);
    CHECK(decision.allowed);
    CHECK(decision.remaining == left);
    CHECK(decision.reason == Reason::ok);
    CHECK(decision.retry == 0U);
    CHECK(decision.reset == static_cast<std::uint64_t>((5 - left) * second));
  }
  CHECK(text(host.check("acme", 0)) ==
        "denied limit 5.000000 remaining 0 retry 1000000 reset 5000000 tier - exhausted no-tier");
  CHECK(host.take("acme", 2 * second));
  CHECK(host.take("acme", 2 * second));
  CHECK_FALSE(host.take("acme", 2 * second));

  SECTION("capacity 10: the balance grows from where it was") {
    host.load(one_limit("10", "2"));
    CHECK(host.tokens("acme", 2 * second) == 0);
    CHECK(host.tokens("acme", 3 * second) == 2);
    CHECK(host.tokens("acme", 7 * second - 1) == 9);
    CHECK(host.tokens("acme", 7 * second) == 10);
    CHECK(host.tokens("acme", 100 * second) == 10);
  }
  SECTION("capacity 2: the balance is at most that") {
    host.load(one_limit("2", "1"));
    CHECK(host.tokens("acme", 100 * second) == 2);
    CHECK(host.take("acme", 100 * second, 2));
    CHECK_FALSE(host.take("acme", 100 * second));
  }
}

TEST_CASE("limiter: every client has a bucket of its own") {
  using namespace std::string_view_literals;
  Host host(five_a_second);
  const std::string_view names[] = {"acme"sv,      "Acme"sv,        "acme "sv,     ""sv,
                                    "\0"sv,        "\0\0"sv,        "\xff"sv,      "\xed\xa0\x80"sv,
                                    "__proto__"sv, "constructor"sv, "e\xcc\x81"sv, "\xc3\xa9"sv};
  for (const auto name : names) {
    CAPTURE(name);
    CHECK(host.tokens(name, 0) == 5);
    CHECK(host.take(name, 0, 5));
    CHECK_FALSE(host.take(name, 0));
  }
  CHECK(host.limiter.stats().buckets == std::size(names));
}

TEST_CASE("limiter: each decision tells in which time all of its limit comes back") {
  LimiterOptions options;
  options.max_clients = 8;
  options.on_full = LimiterOptions::OnFull::deny;
  Host host(
      R"({"default": {"capacity": 10, "refillPerSecond": 4}, "tiers": {
          "rounded up": {"capacity": 10, "refill": {"tokens": 7, "seconds": 1}},
          "fast": {"capacity": 1, "refillPerSecond": 1e9},
          "frozen": {"capacity": 3, "refillPerSecond": 0},
          "sliding": {"algorithm": "sliding-window", "limit": 3, "windowSeconds": 60},
          "several": {"limits": [{"name": "main", "capacity": 10, "refillPerSecond": 1},
                                 {"name": "frozen", "capacity": 100, "refillPerSecond": 0},
                                 {"name": "day", "algorithm": "fixed-window", "limit": 5, "windowSeconds": 86400}]}}})",
      options);
  const auto told = [&](std::string_view client, std::uint64_t cost, std::string_view tier) {
    const Decision decision = host.check(client, 0, cost, tier);
    REQUIRE(decision.limits.size() == 1);
    CHECK(decision.limits[0].window == decision.window);
    return decision.window;
  };
  // Whether admitted, exhausted or impossible.
  for (const std::uint64_t cost : {std::uint64_t{1}, std::uint64_t{10}, std::uint64_t{11}}) {
    CHECK(told("a", cost, "none") == 2'500'000U);
    CHECK(told("b", cost, "rounded up") == 1'428'572U);
    CHECK(told("c", cost, "fast") == 1U);
    CHECK(told("d", cost, "frozen") == std::nullopt);
    CHECK(told("e", cost, "sliding") == 60'000'000U);
    const Decision decision = host.check("f", 0, cost, "several");
    REQUIRE(decision.limits.size() == 3);
    CHECK(decision.limits[0].window == 10'000'000U);
    CHECK(decision.limits[1].window == std::nullopt);
    CHECK(decision.limits[2].window == 86'400'000'000U);
    CHECK(decision.limit_name == (cost <= 10 ? "day" : "main"));
    CHECK(decision.window == decision.limits[cost <= 10 ? 2 : 0].window);
  }
  const Decision full = host.check("too many", 0, 1, "rounded up");
  CHECK(full.reason == Reason::table_full);
  CHECK(full.window == 1'428'572U);
}

TEST_CASE("limiter: each limit tells within which time no more than what remains can be used") {
  Host host(
      R"({"default": {"capacity": 2.5, "refillPerSecond": 4}, "tiers": {
          "thirds": {"capacity": 3, "refill": {"tokens": 3, "seconds": 1}},
          "frozen": {"capacity": 3, "refillPerSecond": 0},
          "sliding": {"algorithm": "sliding-window", "limit": 3, "windowSeconds": 60},
          "fixed": {"algorithm": "fixed-window", "limit": 3, "windowSeconds": 60}}})");
  using Told = std::pair<std::int64_t, std::optional<std::uint64_t>>;
  const auto told = [&](std::int64_t at, std::uint64_t cost, std::string_view tier) {
    const Decision decision = host.check(tier, at, cost, tier);
    REQUIRE(decision.limits.size() == 1);
    return Told{decision.limits[0].remaining, decision.limits[0].more};
  };
  // Denied, so that nothing is charged: the bucket is full, and half a token of it stays when whole ones are used.
  CHECK(told(0, 3, "none") == Told{2, 125'000U});
  CHECK(told(0, 1, "none") == Told{1, 125'000U});
  CHECK(told(125'000, 1, "none") == Told{1, 250'000U});
  CHECK(told(0, 1, "thirds") == Told{2, 333'334U});
  CHECK(told(1, 1, "thirds") == Told{1, 333'333U});
  CHECK(told(0, 1, "frozen") == Told{2, std::nullopt});
  CHECK(told(0, 4, "sliding") == Told{3, 60'000'000U});
  CHECK(told(1, 1, "sliding") == Told{2, 60'000'000U});
  CHECK(told(5, 2, "sliding") == Told{0, 59'999'996U});
  CHECK(told(60'000'000, 1, "sliding") == Told{0, 1U});
  CHECK(told(60'000'001, 2, "sliding") == Told{1, 4U});
  CHECK(told(0, 4, "fixed") == Told{3, 60'000'000U});
  CHECK(told(1, 1, "fixed") == Told{2, 60'000'000U});
  CHECK(told(59'999'999, 2, "fixed") == Told{0, 2U});
  CHECK(told(60'000'001, 4, "fixed") == Told{3, 60'000'000U});

  // A window whose limit has become smaller than what counts in it.
  CHECK(told(70'000'000, 3, "sliding") == Told{0, 60'000'000U});
  REQUIRE(host.limiter
              .set_policies(R"({"default": {"capacity": 1, "refillPerSecond": 1}, "tiers": {
      "sliding": {"algorithm": "sliding-window", "limit": 2, "windowSeconds": 60}}})")
              .ok());
  CHECK(told(70'000'001, 1, "sliding") == Told{0, 59'999'999U});
}

TEST_CASE("limiter: what is denied is not charged, and what can never be is told so") {
  Host host(
      R"({"default": {"capacity": 10, "refillPerSecond": 1},
          "tiers": {"frozen": {"capacity": 3, "refillPerSecond": 0}}})");
  CHECK(host.take("acme", 0, 8));
  Decision decision = host.check("acme", 0, 5);
  CHECK_FALSE(decision.allowed);
  CHECK(decision.reason == Reason::exhausted);
  CHECK(decision.remaining == 2);
  CHECK(decision.retry == static_cast<std::uint64_t>(3 * second));
  CHECK(host.take("acme", 0, 2));

  for (const std::uint64_t cost : {std::uint64_t{11}, std::uint64_t{1'000'000}, max_cost}) {
    decision = host.check("other", 0, cost);
    CHECK(decision.reason == Reason::cost_exceeds_capacity);
    CHECK(decision.remaining == 10);
    CHECK_FALSE(decision.retry.has_value());
    CHECK(decision.reset == 0U);
  }

  CHECK(host.take("cold", 0, 2, "frozen"));
  decision = host.check("cold", 10 * 365 * 24 * 3600 * second, 2, "frozen");
  CHECK(decision.reason == Reason::never_refills);
  CHECK(decision.remaining == 1);
  CHECK_FALSE(decision.retry.has_value());
  CHECK_FALSE(decision.reset.has_value());
  decision = host.check("cold", 10 * 365 * 24 * 3600 * second, 4, "frozen");
  CHECK(decision.reason == Reason::cost_exceeds_capacity);
}

TEST_CASE("limiter: peek tells what check would answer, charges nothing and leaves no trace") {
  Random random(1);
  Host host(tiered);
  Host untouched(tiered);
  const Tier tiers[] = {{}, "free", "pro", "broken", "nowhere"};
  const char* const clients[] = {"a", "b", "acme", "lost"};
  std::int64_t now = 0;
  for (int i = 0; i < 5'000; ++i) {
    now += random.chance(3) ? 0 : static_cast<std::int64_t>(random.bits(24));
    const std::string_view client = random.pick(clients);
    const Tier tier = random.pick(tiers);
    const std::uint64_t cost = 1 + random.below(8);
    host.peek(client, now + static_cast<std::int64_t>(random.bits(30)), cost, tier);
    const Decision denied = host.peek(client, now, max_cost, tier);
    Decision peeked = host.peek(client, now, cost, tier);
    REQUIRE(peeked.remaining == denied.remaining);
    REQUIRE(peeked.reset == denied.reset);
    if (peeked.allowed) {
      peeked.remaining -= static_cast<std::int64_t>(cost);
      peeked.reset.reset();
    }
    const std::string expected = text(peeked);
    Decision told = host.check(client, now, cost, tier);
    REQUIRE(text(told) == text(untouched.check(client, now, cost, tier)));
    if (told.allowed) told.reset.reset();
    REQUIRE(text(told) == expected);
  }
  CHECK(host.limiter.stats().allowed == untouched.limiter.stats().allowed);
  CHECK(host.limiter.stats().denied == untouched.limiter.stats().denied);
  CHECK(host.limiter.stats().buckets == untouched.limiter.stats().buckets);

  // Not even for a client that is new.
  CHECK(text(host.peek("new", now, 5)) == "admitted limit 5.000000 remaining 5 retry 0 reset 0 tier - ok no-tier");
  CHECK(host.limiter.stats().buckets == untouched.limiter.stats().buckets);
  CHECK(host.take("new", 0));
}

TEST_CASE("limiter: a judgement is a decision without the words") {
  Host host(tiered);
  using Status = Judgement::Status;
  CHECK(host.limiter.tier("pro").number >= 0);
  CHECK(host.limiter.tier("broken").number >= 0);
  CHECK(host.limiter.tier("nowhere").number == TierChoice::unknown);  // though a client is assigned to it
  CHECK(host.limiter.tier("constructor").number == TierChoice::unknown);

  const TierChoice pro = host.limiter.tier("pro");
  CHECK(host.limiter.tier_name(static_cast<tierlimit::TierId>(pro.number)) == "pro");
  CHECK(host.limiter.preview("zoe", pro, 60, 0).status == Status::admitted);
  const Judgement judgement = host.limiter.judge("zoe", pro, 60, 0);
  CHECK(judgement.status == Status::admitted);
  CHECK(text(host.limiter.describe(judgement, 60)) ==
        "admitted limit 100.000000 remaining 40 retry 0 reset 36000000 tier pro ok ");
  CHECK(host.limiter.judge("zoe", pro, 60, 0).status == Status::denied);
  CHECK(host.limiter.judge("zoe", {}, 0, 0).status == Status::invalid_cost);
  CHECK(host.limiter.judge("zoe", {}, max_cost + 1, 0).status == Status::invalid_cost);
  const Judgement earlier = host.limiter.judge("zoe", {}, 1, -1);
  CHECK(earlier.status == Status::clock);
  CHECK(earlier.state.touched == 0);
}

TEST_CASE("limiter: the short way to a decision is the same decision") {
  Random random(GENERATE(1U, 2U, 3U));
  const LimiterOptions options{.max_clients = 40, .on_full = GENERATE(OnFull::evict, OnFull::deny)};
  Host whole(tiered, options);
  Host brief(tiered, options);
  const Tier tiers[] = {{}, "pro", "broken", "nowhere"};
  std::int64_t now = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string client = "client " + std::to_string(random.below(60));
    const Tier tier = random.pick(tiers);
    const std::uint64_t cost = random.chance(20) ? (random.chance(2) ? 0 : max_cost + 1) : 1 + random.bits(4);
    if (random.chance(300)) {
      for (Host* host : {&whole, &brief}) host->set_tier(client, tier);
    }
    if (random.chance(3000)) {
      for (Host* host : {&whole, &brief}) host->load(i % 2 == 0 ? five_a_second : tiered);
    }
    now += static_cast<std::int64_t>(random.bits(20));
    const std::int64_t at = random.chance(50) ? now - second : now;
    const auto choice = [&](const Host& host) { return tier ? host.limiter.tier(*tier) : TierChoice{}; };
    REQUIRE(brief.limiter.admit(client, choice(brief), cost, at) ==
            whole.limiter.judge(client, choice(whole), cost, at).status);
  }
  const LimiterStats one = whole.limiter.stats();
  const LimiterStats other = brief.limiter.stats();
  CHECK(one.allowed > 1'000);
  CHECK(one.denied > 1'000);
  CHECK(one.allowed == other.allowed);
  CHECK(one.denied == other.denied);
  CHECK(one.swept == other.swept);
  CHECK(one.evictions == other.evictions);
  CHECK(one.evicted_tokens == other.evicted_tokens);
  CHECK(one.table_full == other.table_full);
}

// ---- Time ----------------------------------------------------------------------------------------------------------

TEST_CASE("limiter: an earlier reading is an error and changes nothing") {
  Host host(five_a_second);
  CHECK(host.take("acme", 10 * second, 2));
  const std::string before = text(host.peek("acme", 10 * second));
  const LimiterStats stats = host.limiter.stats();
  for (const std::int64_t earlier : {10 * second - 1, 4 * second, std::int64_t{0}, -max_micros}) {
    const Error refused = error(host.limiter.check({"acme"}, earlier));
    CHECK(refused.code == ErrorCode::clock);
    CHECK(refused.message.view().find(std::to_string(earlier)) != std::string::npos);
    CHECK(refused.message.view().find("10000000") != std::string::npos);
    CHECK(error(host.limiter.peek({"acme"}, earlier)).code == ErrorCode::clock);
  }
  CHECK(text(host.peek("acme", 10 * second)) == before);
  CHECK(host.limiter.stats().denied == stats.denied);
  CHECK(host.limiter.stats().allowed == stats.allowed);
  CHECK(host.take("acme", 10 * second, 3));
  CHECK_FALSE(host.take("acme", 10 * second));
  CHECK(host.take("acme", 11 * second));

  // The clock of one client is nobody else's.
  CHECK(host.take("other", 4 * second));
}

TEST_CASE("limiter: clocks that alternate make no tokens") {
  Host host(R"({"default": {"capacity": 10, "refillPerSecond": 10}})");
  CHECK(host.take("acme", 1'000'000, 10));
  for (int i = 0; i < 100; ++i) {
    CHECK(error(host.limiter.check({"acme"}, 900'000)).code == ErrorCode::clock);
    CHECK_FALSE(host.take("acme", 1'000'000));
  }
  CHECK_FALSE(host.take("acme", 1'099'999));
  CHECK(host.take("acme", 1'100'000));
}

TEST_CASE("limiter: a denial keeps the time too, so an earlier reading after it is an error") {
  Host host(five_a_second);
  CHECK(host.take("acme", second, 5));
  CHECK_FALSE(host.take("acme", second + 500'000));
  CHECK(error(host.limiter.check({"acme"}, second + 499'999)).code == ErrorCode::clock);
  host.peek("acme", second + 900'000);
  CHECK_FALSE(host.take("acme", second + 600'000));
}

TEST_CASE("limiter: readings within 2^53 microseconds are good") {
  Host host(five_a_second);
  CHECK(host.take("acme", -max_micros, 5));
  CHECK(host.take("acme", max_micros, 5));
  CHECK_FALSE(host.take("acme", max_micros));
  for (const std::int64_t beyond : {max_micros + 1, -max_micros - 1, std::numeric_limits<std::int64_t>::max(),
                                    std::numeric_limits<std::int64_t>::min()}) {
    const Error refused = error(host.limiter.check({"acme"}, beyond));
    CHECK(refused.code == ErrorCode::invalid_time);
    CHECK(refused.message.view().find(std::to_string(beyond)) != std::string::npos);
    CHECK(error(host.limiter.peek({"new"}, beyond)).code == ErrorCode::invalid_time);
  }
  CHECK(host.limiter.stats().buckets == 1);
}

TEST_CASE("limiter: who waits as told is admitted, and not a microsecond earlier") {
  const char* const capacities[] = {"1", "1.5", "2", "3.75", "10", "97", "1000.001"};
  const char* const rates[] = {R"("refillPerSecond": 1)",
                               R"("refillPerSecond": 0.1)",
                               R"("refill": {"tokens": 10, "seconds": 13})",
                               R"("refill": {"tokens": 625, "seconds": 3600})",
                               R"("refill": {"tokens": 7, "seconds": 604800})",
                               R"("refillPerSecond": 0.3333333333333333)",
                               R"("refillPerSecond": 11.57407407)",
                               R"("refillPerSecond": 2e9)",
                               R"("refillPerSecond": 999999.5)",
                               R"("refillPerSecond": 1e-9)"};
  Random random(2);
  int denials = 0;
  for (const char* capacity : capacities) {
    for (const char* rate : rates) {
      const std::string policies = R"({"default": {"capacity": )" + std::string(capacity) + ", " + rate + "}}";
      CAPTURE(policies);
      Host host(policies);
      const auto largest = static_cast<std::uint64_t>(host.tokens("acme", 0));
      // Like a host's clock since 1970, in whole microseconds: the milliseconds have fractions.
      std::int64_t now = 1'700'000'000'000'000 + random.between(0, second);
      for (int i = 0; i < 200; ++i) {
        const std::uint64_t cost = random.chance(4) ? 1 + random.below(largest) : largest - random.bits(8) % largest;
        const Decision decision = host.check("acme", now, cost);
        if (decision.allowed) {
          REQUIRE(decision.retry == 0U);
          now += static_cast<std::int64_t>(random.chance(2) ? 0 : random.bits(20));
          continue;
        }
        ++denials;
        REQUIRE(decision.reason == Reason::exhausted);
        REQUIRE(decision.retry.has_value());
        REQUIRE(*decision.retry > 0);
        const auto wait = static_cast<std::int64_t>(*decision.retry);
        if (now + wait > max_micros) break;
        if (wait > 2 && random.chance(2)) REQUIRE_FALSE(host.take("acme", now + wait / 2, cost));
        REQUIRE_FALSE(host.take("acme", now + wait - 1, cost));
        REQUIRE(host.peek("acme", now + wait - 1, cost).retry == 1U);

        // The same through milliseconds as doubles.
        const double now_ms = static_cast<double>(now) / 1000;
        REQUIRE(tierlimit::to_micros(now_ms) == now);
        const double then_ms = now_ms + tierlimit::wait_ms(now_ms, *decision.retry);
        if (then_ms < std::ldexp(1, 41)) REQUIRE(tierlimit::to_micros(then_ms) == now + wait);
        now = *tierlimit::to_micros(then_ms);
        REQUIRE(host.take("acme", now, cost));
      }
    }
  }
  CHECK(denials > 3'000);
}

TEST_CASE("limiter: a bucket is full when reset says so, and not a microsecond earlier") {
  Random random(3);
  Host host(R"({"default": {"capacity": 7.3, "refill": {"tokens": 10, "seconds": 13}}})");
  std::int64_t now = 0;
  for (int i = 0; i < 2'000; ++i) {
    const Decision decision = host.check("acme", now, 1 + random.below(7));
    REQUIRE(decision.reset.has_value());
    const auto reset = static_cast<std::int64_t>(*decision.reset);
    if (reset > 0) {
      REQUIRE(host.peek("acme", now + reset - 1).reset == 1U);
      REQUIRE(host.peek("acme", now + reset).reset == 0U);
    }
    now += static_cast<std::int64_t>(random.bits(23));
  }
}

// ---- Errors --------------------------------------------------------------------------------------------------------

TEST_CASE("limiter: no decision without policies and a secret") {
  TierLimiter limiter;
  CHECK(limiter.revision() == 0);
  CHECK_FALSE(limiter.seeded());
  CHECK(error(limiter.check({"acme"}, 0)).code == ErrorCode::no_policies);
  CHECK(error(limiter.peek({"acme"}, 0)).code == ErrorCode::no_policies);
  limiter.seed(secret);
  CHECK(error(limiter.check({"acme"}, 0)).code == ErrorCode::no_policies);

  TierLimiter unseeded;
  REQUIRE(unseeded.set_policies(five_a_second).ok());
  CHECK(error(unseeded.check({"acme"}, 0)).code == ErrorCode::not_seeded);
  CHECK(error(unseeded.peek({"acme"}, 0)).code == ErrorCode::not_seeded);
  unseeded.seed(secret);
  CHECK(unseeded.seeded());
  CHECK(unseeded.check({"acme", 5}, 0).ok());

  // Another secret would make all clients new.
  unseeded.seed({1, 2});
  const auto decision = unseeded.check({"acme"}, 0);
  REQUIRE(decision.ok());
  CHECK_FALSE(decision.value().allowed);
}

TEST_CASE("limiter: a cost is a whole number from 1 to 2^53-1") {
  Host host(five_a_second);
  for (const std::uint64_t cost : {std::uint64_t{0}, max_cost + 1, ~std::uint64_t{0}}) {
    const Error refused = error(host.limiter.check({"acme", cost}, 0));
    CHECK(refused.code == ErrorCode::invalid_cost);
    CHECK(refused.message.view().find(std::to_string(cost)) != std::string::npos);
    CHECK(error(host.limiter.peek({"acme", cost}, 0)).code == ErrorCode::invalid_cost);
    CHECK(error(host.limiter.check({"acme", cost, "nowhere"}, 0)).code == ErrorCode::invalid_cost);
  }
  CHECK(host.limiter.stats().buckets == 0);
  CHECK(host.limiter.stats().denied == 0);
  CHECK(host.check("acme", 0, max_cost).reason == Reason::cost_exceeds_capacity);
}

// ---- Policies that change ------------------------------------------------------------------------------------------

TEST_CASE("limiter: idle time accrues at the rate and up to the capacity now in force") {
  constexpr std::int64_t start = 1'000 * second;
  Host host(one_limit("100", "1"));
  REQUIRE(host.take("acme", start, 100));
  host.load(one_limit("100", "5"));
  CHECK(host.tokens("acme", start + 10 * second) == 50);
  host.load(one_limit("40", "5"));
  CHECK(host.tokens("acme", start + 10 * second) == 40);
  host.load(one_limit("1000", "1000"));
  host.load(one_limit("100", "1"));
  CHECK(host.tokens("acme", start + 10 * second) == 10);  // what was in force between two decisions never was

  // A decision settles what went before, a denial as well.
  CHECK_FALSE(host.take("acme", start + 10 * second, 50));
  host.load(one_limit("100", "5"));
  CHECK(host.tokens("acme", start + 10 * second) == 10);
  CHECK(host.tokens("acme", start + 12 * second) == 20);
}

TEST_CASE("limiter: a raised capacity gives nothing, though idle time may fill it") {
  Host host(one_limit("20", "1"));
  REQUIRE(host.take("drained", 0, 20));
  REQUIRE(host.take("half", 0, 10));
  REQUIRE(host.take("idle", 0, 1));
  host.load(one_limit("40", "1"));
  CHECK(host.tokens("drained", 0) == 0);
  CHECK(host.tokens("half", 0) == 10);
  CHECK(host.tokens("idle", 0) == 19);
  CHECK(host.tokens("idle", 10 * second) == 29);
  CHECK(host.tokens("idle", 1000 * second) == 40);
  CHECK(host.tokens("new", 0) == 40);
}

TEST_CASE("limiter: a lowered capacity is the most that is left, from the next decision on") {
  Host host(one_limit("20", "1"));
  REQUIRE(host.take("acme", 0));
  host.load(one_limit("10", "1"));
  for (int i = 0; i < 10; ++i) {
    const Decision decision = host.check("acme", 0);
    CHECK(decision.allowed);
    CHECK(decision.limit == 10);
  }
  CHECK_FALSE(host.take("acme", 0));
  host.load(one_limit("20", "1"));
  CHECK(host.tokens("acme", 0) == 0);
}

TEST_CASE("limiter: a changed rate keeps what is left") {
  Host host(R"({"default": {"capacity": 16, "refill": {"tokens": 10, "seconds": 20}}})");
  REQUIRE(host.take("acme", 0, 3));
  host.load(R"({"default": {"capacity": 16, "refill": {"tokens": 1000, "seconds": 20}}})");
  const Decision decision = host.check("acme", 0);
  CHECK(decision.allowed);
  CHECK(decision.remaining == 12);

  // From thirds to sevenths and back, a fraction of a token in the bucket.
  host.load(R"({"default": {"capacity": 16, "refill": {"tokens": 1, "seconds": 3}}})");
  CHECK_FALSE(host.take("acme", 1'500'000, 16));
  host.load(R"({"default": {"capacity": 16, "refill": {"tokens": 1, "seconds": 7}}})");
  CHECK(host.check("acme", 1'500'000, 16).retry == 24'500'000U);  // three and a half tokens are missing
}

TEST_CASE("limiter: loading the same again changes nothing, however it is spelled") {
  const char* const spelled = R"({"default": {"capacity": 10, "refillPerSecond": 0.5},
                                  "tiers": {"pro": {"capacity": 10, "refillPerSecond": 0.5}}})";
  Host host(spelled);
  REQUIRE(host.take("acme", 0, 10));
  REQUIRE(host.take("zoe", 0, 7, "pro"));
  REQUIRE_FALSE(host.take("acme", 1'000'001));
  const std::string acme = text(host.peek("acme", 1'500'000));
  const std::string zoe = text(host.peek("zoe", 1'500'000, 1, "pro"));
  const char* const spellings[] = {
      spelled,
      "{\"tiers\":\n\t{\"pro\":{\"refillPerSecond\":5e-1,\"capacity\":1e1}},\r\n\"default\":{\"refillPerSecond\":0.50,"
      "\"capacity\":10.0}}",
      R"({"default": {"refill": {"seconds": 2, "tokens": 1}, "capacity": 10},
          "tiers": {"pro": {"capacity": 100e-1, "refill": {"tokens": 30, "seconds": 60}}}})",
      R"({"def\u0061ult": {"capacity": 10, "refillPerSecond": 0.5, "algorithm": "token-bucket"},
          "tiers": {"pr\u006f": {"capacity": 10, "refillPerSecond": 0.5, "onRaise": "keep"},
                    "more": {"capacity": 1, "refillPerSecond": 1}}})",
  };
  for (int round = 0; round < 5; ++round) {
    for (const char* spelling : spellings) {
      host.load(spelling);
      CHECK(text(host.peek("acme", 1'500'000)) == acme);
      CHECK(text(host.peek("zoe", 1'500'000, 1, "pro")) == zoe);
      CHECK_FALSE(host.take("acme", 1'000'001));
    }
  }
  CHECK(host.limiter.revision() == 1 + 5 * std::size(spellings));
}

TEST_CASE("limiter: a refused document changes nothing") {
  const bool strict = GENERATE(false, true);
  Host host(five_a_second, {.strict = strict});
  host.set_tier("zoe", "pro");
  REQUIRE(host.take("acme", 0, 3));
  const std::string acme = text(host.peek("acme", 0));
  const std::string zoe = text(host.peek("zoe", 0));
  std::vector<std::string> documents = {"",
                                        "{",
                                        "[]",
                                        "null",
                                        R"({"tiers": {}})",
                                        R"({"default": {"capacity": 0, "refillPerSecond": 1}})",
                                        R"({"default": {"capacity": 50}})",
                                        R"({"default": {"capacity": 50, "refillPerSecond": 1}, "tires": {}})",
                                        R"({"default": {"capacity": 50, "capacity": 60, "refillPerSecond": 1}})",
                                        R"({"default": {"capacity": 50, "refillPerSecond": 1e999}})",
                                        R"({"default": {"capacity": 50, "refillPerSecond": 1},
          "tiers": {"pro": {"capacity": 50, "refillPerSecond": 1}},
          "clients": 7})"};
  if (strict) documents.push_back(tiered);
  for (const std::string& document : documents) {
    CAPTURE(document);
    const auto loaded = host.limiter.set_policies(document);
    REQUIRE_FALSE(loaded.ok());
    CHECK_FALSE(loaded.error().empty());
    CHECK(host.limiter.revision() == 1);
    CHECK(host.limiter.tier("pro").number == TierChoice::unknown);
    CHECK(text(host.peek("acme", 0)) == acme);
    CHECK(text(host.peek("zoe", 0)) == zoe);
  }
  const auto loaded = host.limiter.set_policies(one_limit("6", "1"));
  REQUIRE(loaded.ok());
  CHECK(loaded.value() == 2);
  CHECK(host.tokens("acme", 0) == 2);
}

TEST_CASE("limiter: tells what of the document in force was refused or rounded") {
  Host host(tiered);
  REQUIRE(host.limiter.rejected().size() == 3);
  CHECK(host.limiter.warnings().empty());
  host.load(R"({"default": {"capacity": 1e6, "refillPerSecond": 0.3333333333333333}})");
  CHECK(host.limiter.rejected().empty());
  REQUIRE(host.limiter.warnings().size() == 1);
  CHECK_FALSE(host.limiter.set_policies("{").ok());
  CHECK(host.limiter.warnings().size() == 1);
  CHECK(host.limiter.warnings().front().code == ErrorCode::rate_rounded);
}

TEST_CASE("limiter: every bucket remembers the limit that last judged it") {
  Host host(one_limit("10", "0"));
  constexpr int revisions = 300;
  for (int i = 0; i < revisions; ++i) {
    // Units differ from one revision to the next: i / 7 tokens have sevenths.
    host.load(one_limit(std::to_string(10 + i) + ".25", i % 2 == 0 ? "0" : "0.0" + std::to_string(1 + i)));
    REQUIRE(host.take("client " + std::to_string(i), 0, static_cast<std::uint64_t>(1 + i % 10)));
  }
  host.load(one_limit("1000", "1"));
  for (int i = 0; i < revisions; ++i) {
    CAPTURE(i);
    CHECK(host.tokens("client " + std::to_string(i), 0) == 10 + i - (1 + i % 10));
  }
}

TEST_CASE("limiter: ten thousand revisions take no more memory than a few") {
  Host host(one_limit("5", "0"));
  REQUIRE(host.take("sleeper", 0, 3));
  const auto reload = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      const std::string number = std::to_string(i);
      host.load(R"({"default": {"capacity": 1)" + number + R"(, "refillPerSecond": 0},
                    "tiers": {"tier )" +
                number + R"(": {"capacity": 2)" + number + R"(, "refillPerSecond": 1}},
                    "clients": {"client )" +
                number + R"(": "tier )" + number + R"("}})");
      host.set_tier("moving", "tier " + number);
      for (const char* client : {"moving", "awake"}) host.take(client, i);
      host.take("client " + std::to_string(i % 8), i);
    }
  };
  reload(0, 1'000);
  const std::size_t before = heap();
  reload(1'000, 10'000);
  CHECK(heap() < before + 64 * 1024);
  CHECK(host.tokens("sleeper", 10'000) == 2);
  CHECK(host.limiter.revision() == 10'001);
}

TEST_CASE("limiter: a decision on a known client takes no memory, so that it never fails for want of it") {
  constexpr int revisions = 500;
  Host host(five_a_second, {.sweep = false});
  for (int i = 0; i < revisions; ++i) {
    const std::string number = std::to_string(i);
    const std::string tier = "tier " + number;
    host.load(R"({"default": {"capacity": 1)" + number + R"(, "refillPerSecond": 1},
                  "tiers": {")" +
              tier + R"(": {"capacity": 2, "refillPerSecond": 1}}})");
    REQUIRE(host.take(number, 0));
    REQUIRE(host.take("in " + tier, 0, 1, tier));
  }
  host.load(five_a_second);
  const std::size_t before = heap();
  bool admitted = true;
  for (int i = 0; i < revisions; ++i) {
    const std::string number = std::to_string(i);
    admitted = host.take(number, second) && host.take("in tier " + number, second) && admitted;
  }
  CHECK(heap() <= before);  // Names of tiers that nobody uses any more are given back.
  CHECK(admitted);
}

// ---- Tiers ---------------------------------------------------------------------------------------------------------

TEST_CASE("limiter: the decision says which tier was asked for and why the default judged") {
  Host host(tiered);
  struct Case {
    const char* client;
    Tier tier;
    const char* expected;
  };
  const char* const by_pro = "admitted limit 100.000000 remaining 99 retry 0 reset 600000 tier pro ok ";
  const Case cases[] = {
      {"a", {}, "admitted limit 5.000000 remaining 4 retry 0 reset 1000000 tier - ok no-tier"},
      {"b", "free", "admitted limit 5.000000 remaining 4 retry 0 reset 1000000 tier free ok "},
      {"c", "pro", by_pro},
      {"d", "broken", "admitted limit 5.000000 remaining 4 retry 0 reset 1000000 tier broken ok invalid-tier-policy"},
      {"e", "later", "admitted limit 5.000000 remaining 4 retry 0 reset 1000000 tier later ok invalid-tier-policy"},
      {"f", "nowhere", "admitted limit 5.000000 remaining 4 retry 0 reset 1000000 tier nowhere ok unknown-tier"},
      {"g", "nobody's", "admitted limit 5.000000 remaining 4 retry 0 reset 1000000 tier nobody's ok unknown-tier"},
      {"h", "constructor",
       "admitted limit 5.000000 remaining 4 retry 0 reset 1000000 tier constructor ok unknown-tier"},
      {"i", "", "admitted limit 5.000000 remaining 4 retry 0 reset 1000000 tier  ok unknown-tier"},
      {"acme", {}, by_pro},
      {"lost", {}, "admitted limit 5.000000 remaining 4 retry 0 reset 1000000 tier nowhere ok unknown-tier"},
      {"damaged", {}, "admitted limit 5.000000 remaining 4 retry 0 reset 1000000 tier broken ok invalid-tier-policy"},
  };
  for (const Case& each : cases) CHECK(text(host.check(each.client, 0, 1, each.tier)) == each.expected);
}

TEST_CASE("limiter: the call's tier beats set_tier, which beats the document, which beats the default") {
  Host host(tiered);
  CHECK(host.peek("acme", 0).tier == "pro");
  host.set_tier("acme", "free");
  CHECK(host.peek("acme", 0).tier == "free");
  CHECK(host.peek("acme", 0, 1, "broken").tier == "broken");
  CHECK(host.peek("acme", 0, 1, "unheard of").tier == "unheard of");
  CHECK(host.peek("acme", 0, 1, "unheard of").limit == 5);
  CHECK(host.peek("acme", 0).tier == "free");  // the call's tier was for the call
  host.set_tier("acme", "unheard of");
  CHECK(text(host.peek("acme", 0)).find("tier unheard of ok unknown-tier") != std::string::npos);
  CHECK(host.limiter.stats().assignments == 1);
  host.set_tier("acme", std::nullopt);
  CHECK(host.peek("acme", 0).tier == "pro");
  CHECK(host.limiter.stats().assignments == 0);
  host.set_tier("acme", std::nullopt);
  CHECK(host.peek("acme", 0).tier == "pro");
  CHECK_FALSE(host.peek("other", 0).tier.has_value());
}

TEST_CASE("limiter: set_tier holds whenever it was called") {
  TierLimiter limiter;
  REQUIRE(limiter.set_tier("before policies", "pro").ok());
  REQUIRE(limiter.set_tier("taken back", "pro").ok());
  REQUIRE(limiter.set_tier("taken back", std::nullopt).ok());
  REQUIRE(limiter.set_policies(tiered).ok());
  REQUIRE(limiter.set_tier("before seed", "pro").ok());
  REQUIRE(limiter.set_tier("acme", "free").ok());
  CHECK(limiter.stats().assignments == 3);
  limiter.seed(secret);
  REQUIRE(limiter.set_tier("after seed", "pro").ok());
  const auto limit = [&](std::string_view client) {
    const auto decision = limiter.peek({client}, 0);
    REQUIRE(decision.ok());
    return decision.value().limit;
  };
  for (const char* client : {"before policies", "before seed", "after seed"}) CHECK(limit(client) == 100);
  CHECK(limit("taken back") == 5);
  CHECK(limit("acme") == 5);
  REQUIRE(limiter.set_tier("before seed", std::nullopt).ok());
  REQUIRE(limiter.set_tier("acme", std::nullopt).ok());
  CHECK(limit("before seed") == 5);
  CHECK(limit("acme") == 100);
  CHECK(limiter.stats().assignments == 2);
}

TEST_CASE("limiter: very many clients may have been put into tiers before there is a secret") {
  constexpr int clients = 10'000;
  TierLimiter limiter;
  REQUIRE(limiter.set_policies(tiered).ok());
  bool done = true;
  for (int i = 0; i < clients; ++i)
    done = limiter.set_tier(std::to_string(i), i % 2 == 0 ? "pro" : "free").ok() && done;
  for (int i = 0; i < clients; i += 2) done = limiter.set_tier(std::to_string(i), "gold").ok() && done;
  CHECK(done);
  CHECK(limiter.stats().assignments == clients);
  limiter.seed(secret);
  CHECK(limiter.stats().assignments == clients);
  int gold = 0;
  int free = 0;
  for (int i = 0; i < clients; ++i) {
    const std::string client = std::to_string(i);
    const auto decision = limiter.peek({client}, 0);
    REQUIRE(decision.ok());
    if (decision.value().tier == Tier("gold")) ++gold;
    if (decision.value().tier == Tier("free")) ++free;
  }
  CHECK(gold == clients / 2);
  CHECK(free == clients / 2);
}

TEST_CASE("limiter: set_tier stays while tiers come and go, and the document's clients do not") {
  Host host(tiered);
  host.set_tier("zoe", "gold");
  CHECK(text(host.peek("zoe", 0)).find("limit 5.000000 remaining 5 retry 0 reset 0 tier gold ok unknown-tier") !=
        std::string::npos);
  host.load(
      R"({"default": {"capacity": 3, "refillPerSecond": 1},
          "tiers": {"gold": {"capacity": 50, "refillPerSecond": 1}}})");
  CHECK(host.peek("zoe", 0).limit == 50);
  CHECK(text(host.peek("acme", 0)).find("limit 3.000000 remaining 3 retry 0 reset 0 tier - ok no-tier") !=
        std::string::npos);
  host.load(
      R"({"default": {"capacity": 3, "refillPerSecond": 1},
          "tiers": {"gold": {"capacity": -50, "refillPerSecond": 1}}})");
  CHECK(text(host.peek("zoe", 0)).find("limit 3.000000 remaining 3 retry 0 reset 0 tier gold ok invalid-tier") !=
        std::string::npos);
  host.load(R"({"default": {"capacity": 4, "refillPerSecond": 1}})");
  CHECK(text(host.peek("zoe", 0)).find("limit 4.000000 remaining 4 retry 0 reset 0 tier gold ok unknown-tier") !=
        std::string::npos);
  CHECK(host.limiter.tier("gold").number == TierChoice::unknown);
}

TEST_CASE("limiter: a client that changes tier keeps its balance") {
  Host host(tiered);
  REQUIRE(host.take("zoe", 0, 3));
  host.set_tier("zoe", "pro");
  CHECK(host.tokens("zoe", 0) == 2);
  CHECK(host.tokens("zoe", 6 * second) == 12);
  REQUIRE(host.take("zoe", 600 * second, 10));
  host.set_tier("zoe", "free");
  CHECK(host.tokens("zoe", 600 * second) == 5);
  REQUIRE(host.take("zoe", 600 * second));
  host.set_tier("zoe", "pro");
  CHECK(host.tokens("zoe", 600 * second) == 4);

  // Going back and forth by the call's tier fills nothing either.
  for (int i = 0; i < 4; ++i) CHECK(host.take("zoe", 600 * second, 1, i % 2 == 0 ? "pro" : "free"));
  CHECK_FALSE(host.take("zoe", 600 * second, 1, "pro"));
  CHECK_FALSE(host.take("zoe", 600 * second, 1, "free"));
}

// ---- Forgetting ----------------------------------------------------------------------------------------------------

TEST_CASE("limiter: sweeping shows in nothing while policies and tiers stay") {
  const char* const policies = R"({
    "default": {"capacity": 5.5, "refill": {"tokens": 10, "seconds": 13}},
    "tiers": {
      "fast": {"capacity": 20, "refillPerSecond": 1000},
      "slow": {"capacity": 2, "refillPerSecond": 0.01},
      "frozen": {"capacity": 3, "refillPerSecond": 0},
      "broken": {"capacity": 0}
    },
    "clients": {"client 0": "fast", "client 1": "slow", "client 2": "frozen", "client 3": "nowhere"}
  })";
  const Tier tiers[] = {{}, "fast", "slow", "frozen", "broken", "nowhere"};
  Random random(GENERATE(1U, 2U, 3U));
  Host swept(policies);
  Host kept(policies, {.sweep = false});
  std::vector<Tier> asked;  // Each client comes with the same tier all the time.
  for (int i = 0; i < 60; ++i) {
    asked.push_back(i < 4 ? Tier{} : random.pick(tiers));
    if (i < 4 || !random.chance(3)) continue;
    const Tier assigned = random.pick(tiers);
    for (Host* host : {&swept, &kept}) host->set_tier("client " + std::to_string(i), assigned);
  }
  std::int64_t now = -max_micros;
  for (int i = 0; i < 100'000; ++i) {
    // Some come for a while and are away for longer.
    const auto which = (static_cast<std::size_t>(i) / 700 * 7 + random.below(10)) % asked.size();
    const std::string client = "client " + std::to_string(which);
    const std::uint64_t cost = 1 + random.bits(4);
    if (random.chance(8)) {
      REQUIRE(text(swept.peek(client, now, cost, asked[which])) == text(kept.peek(client, now, cost, asked[which])));
    }
    REQUIRE(text(swept.check(client, now, cost, asked[which])) == text(kept.check(client, now, cost, asked[which])));
    now += random.chance(2) ? 0 : static_cast<std::int64_t>(random.bits(24));
  }
  CHECK(swept.limiter.stats().swept > 300);
  CHECK(kept.limiter.stats().swept == 0);
  CHECK(swept.limiter.stats().allowed == kept.limiter.stats().allowed);
  CHECK(swept.limiter.stats().buckets < kept.limiter.stats().buckets);
}

TEST_CASE("limiter: full buckets are forgotten") {
  Host host(five_a_second);
  for (int i = 0; i < 1'000; ++i) CHECK(host.take("client " + std::to_string(i), 0, 5));
  CHECK(host.limiter.stats().buckets == 1'000);
  for (int i = 0; i < 5'000; ++i) host.check("passer-by", 5 * second - 1);
  CHECK(host.limiter.stats().buckets == 1'001);
  CHECK(host.limiter.stats().swept == 0);
  // At most three rounds over the slots.
  for (int i = 0; i < 15'000; ++i) host.check("passer-by", 5 * second);
  CHECK(host.limiter.stats().buckets == 1);
  CHECK(host.limiter.stats().swept == 1'000);
  CHECK(host.limiter.stats().evictions == 0);

  Host keeper(five_a_second, {.sweep = false});
  for (int i = 0; i < 100; ++i) CHECK(keeper.take("client " + std::to_string(i), 0, 5));
  for (int i = 0; i < 500; ++i) keeper.check("passer-by", 5 * second);
  CHECK(keeper.limiter.stats().buckets == 101);
  CHECK(keeper.limiter.stats().swept == 0);
}

TEST_CASE("limiter: a stream of new clients that are full again at once takes no room") {
  Host host(one_limit("5", "1000"), {.max_clients = 1'000'000, .max_bytes = 1 << 30});
  for (int i = 0; i < 300'000; ++i) {
    REQUIRE(host.take("client " + std::to_string(i), std::int64_t{i} * 1'000));
    REQUIRE(host.limiter.stats().buckets < 100);
  }
}

TEST_CASE("limiter: a slow bucket is not forgotten early") {
  Host host(one_limit("1", "0.001"));
  REQUIRE(host.take("acme", 0));
  for (const std::int64_t now : {300, 400, 600, 999}) host.bustle(now * second);
  CHECK_FALSE(host.take("acme", 999'999'000));
  CHECK_FALSE(host.take("acme", 999'999'999));
  CHECK(host.take("acme", 1'000'000'000));
}

TEST_CASE("limiter: a bucket is kept while it is not full under the limit that last judged it") {
  Host host(one_limit("10", "0.001"));
  REQUIRE(host.take("acme", 0, 7));
  host.load(one_limit("1", "1"));  // which its three tokens more than fill
  host.bustle(60 * second);
  host.load(one_limit("10", "0.001"));
  CHECK(host.tokens("acme", 60 * second) == 3);
}

TEST_CASE("limiter: a bucket is kept while it is not full under its tier's present limit") {
  Host host(
      R"({"default": {"capacity": 1, "refillPerSecond": 1}, "tiers": {"pro": {"capacity": 5, "refillPerSecond": 1}}})");
  REQUIRE(host.take("acme", 0, 5, "pro"));
  host.load(
      R"({"default": {"capacity": 1, "refillPerSecond": 1},
          "tiers": {"pro": {"capacity": 100, "refillPerSecond": 1}}})");
  host.bustle(60 * second);
  CHECK(host.tokens("acme", 60 * second, "pro") == 60);
  host.bustle(99 * second);
  CHECK(host.tokens("acme", 99 * second, "pro") == 99);
  CHECK(host.limiter.stats().swept == 0);
  host.bustle(100 * second);
  CHECK(host.limiter.stats().swept == 1);
}

TEST_CASE("limiter: a raised default after idle time gives no more than the time did") {
  Host host(one_limit("5", "1"));
  REQUIRE(host.take("acme", 0, 5));
  host.load(one_limit("100", "1"));
  host.bustle(60 * second);
  CHECK(host.tokens("acme", 60 * second) == 60);
  CHECK(host.limiter.stats().swept == 0);
}

TEST_CASE("limiter: a bucket is kept while it is not full under the limit of the client's own tier") {
  Host host(R"({"default": {"capacity": 1, "refillPerSecond": 1},
                "tiers": {"small": {"capacity": 1, "refillPerSecond": 1},
                          "big": {"capacity": 100, "refillPerSecond": 1}},
                "clients": {"by document": "big"}})");
  host.set_tier("by set_tier", "big");
  for (const char* client : {"by document", "by set_tier"}) {
    CAPTURE(client);
    REQUIRE(host.take(client, 0, 1, "small"));
    host.bustle(60 * second);
    CHECK(host.tokens(client, 60 * second) == 60);
  }
  // Once it is assigned nowhere, nothing speaks for keeping it.
  host.set_tier("by set_tier", std::nullopt);
  host.bustle(60 * second);
  CHECK(host.limiter.stats().swept == 1);
}

TEST_CASE("limiter: a bucket of a tier that is gone is kept until it is full under the default") {
  Host host(
      R"({"default": {"capacity": 50, "refillPerSecond": 1},
          "tiers": {"pro": {"capacity": 5, "refillPerSecond": 1}}})");
  REQUIRE(host.take("acme", 0, 5, "pro"));
  host.load(one_limit("50", "1"));
  host.bustle(49 * second);
  CHECK(host.tokens("acme", 49 * second, "pro") == 49);
  host.bustle(50 * second);
  CHECK(host.limiter.stats().swept == 1);
}

// ---- Bounds --------------------------------------------------------------------------------------------------------

TEST_CASE("limiter: moving back and forth between tiers never refills, though others come and go") {
  // Full under the small limit within a second; the large one takes a day.
  Host host(R"({
    "default": {"capacity": 5, "refillPerSecond": 5},
    "tiers": {"export": {"capacity": 100, "refill": {"tokens": 100, "seconds": 86400}}}
  })");
  std::int64_t now = 0;
  REQUIRE(host.take("visitor", now));
  REQUIRE(host.take("acme", now, 100, "export"));
  for (int i = 0; i < 600; ++i) {
    host.take("acme", now);
    now += second;
    host.bustle(now);
    REQUIRE_FALSE(host.take("acme", now, 100, "export"));
  }
  CHECK(host.limiter.stats().swept == 1);  // the visitor

  SECTION("until it is full under every limit") {
    now += 86'400 * second;
    host.bustle(now);
    CHECK(host.limiter.stats().buckets == 1);
    CHECK(host.take("acme", now, 100, "export"));
  }
  SECTION("nor is it forgotten among very many limits") {
    std::string tiers;
    for (int i = 0; i < 100; ++i) {
      tiers += ", \"tier " + std::to_string(i) + R"(": {"capacity": 1, "refillPerSecond": 1000})";
    }
    host.load(R"({"default": {"capacity": 5, "refillPerSecond": 5}, "tiers": {
      "export": {"capacity": 100, "refill": {"tokens": 100, "seconds": 86400}})" +
              tiers + "}}");
    now += second;
    host.bustle(now);
    CHECK_FALSE(host.take("acme", now, 100, "export"));
  }
}

TEST_CASE("limiter: case 14: a clock that goes back and forth makes no tokens of buckets that were forgotten") {
  Host host(five_a_second);
  REQUIRE(host.take("acme", 4 * second, 5));
  host.bustle(10 * second);
  REQUIRE(host.limiter.stats().buckets == 1);
  CHECK(error(host.limiter.check({"acme", 5}, 4 * second)).code == ErrorCode::clock);
  CHECK(error(host.limiter.peek({"acme"}, 10 * second - 1)).code == ErrorCode::clock);
  CHECK(host.limiter.stats().buckets == 1);
  CHECK(host.take("acme", 10 * second, 5));
}

TEST_CASE("limiter: a flood of new clients stays within the bound and resets nobody who has spent more") {
  Host host(one_limit("10", "1"), {.max_clients = 1'000});
  REQUIRE(host.take("spender", 0, 10));
  for (int i = 0; i < 50'000; ++i) {
    REQUIRE(host.take("client " + std::to_string(i), i / 100));
    REQUIRE(host.limiter.stats().buckets <= 1'000);
  }
  const LimiterStats stats = host.limiter.stats();
  CHECK(stats.buckets == 1'000);
  CHECK(stats.bytes < 80 * 1'000);
  CHECK(stats.evictions == 50'001 - 1'000);
  CHECK(stats.evicted_tokens > 0.99 * static_cast<double>(stats.evictions));
  CHECK(stats.evicted_tokens <= static_cast<double>(stats.evictions));
  CHECK(host.tokens("spender", second) == 1);
}

TEST_CASE("limiter: memory for buckets is bounded too") {
  Host host(five_a_second, {.max_bytes = 1'024});
  for (int i = 0; i < 100; ++i) REQUIRE(host.take("client " + std::to_string(i), 0));
  CHECK(host.limiter.stats().buckets == 13);
  CHECK(host.limiter.stats().bytes == 64 + 16 * 32 + 8);
  CHECK(host.limiter.stats().evictions == 87);
}

TEST_CASE("limiter: the bucket that is full soonest goes first") {
  const bool sweep = GENERATE(true, false);
  Host host(one_limit("10", "1"), {.max_clients = 8, .sweep = sweep});
  for (std::uint64_t i = 1; i <= 8; ++i) REQUIRE(host.take("spent " + std::to_string(i), 0, 9 - i));
  double tokens = 0;
  for (std::uint64_t i = 8; i >= 1; --i) {
    const std::string next = "spent " + std::to_string(i);
    CHECK(host.tokens(next, 0) == static_cast<std::int64_t>(1 + i));
    REQUIRE(host.take("new " + std::to_string(i), 0, 10));
    tokens += static_cast<double>(9 - i);
    CHECK(host.tokens(next, 0) == 10);
    CHECK(host.limiter.stats().evictions == 9 - i);
    CHECK(host.limiter.stats().evicted_tokens == tokens);
  }
  // Of equals the one that was not touched for longest.
  for (const char* client : {"new 3", "new 8"}) REQUIRE_FALSE(host.take(client, second / 2, 10));
  for (int i : {1, 2, 4, 5, 6, 7}) REQUIRE_FALSE(host.take("new " + std::to_string(i), second, 10));
  REQUIRE_FALSE(host.take("new 3", second, 10));
  REQUIRE(host.take("last", second, 10));
  CHECK(host.tokens("new 8", second) == 10);
  CHECK(host.limiter.stats().buckets == 8);
}

TEST_CASE("limiter: buckets that never fill go last, longest untouched first") {
  Host host(
      R"({"default": {"capacity": 10, "refillPerSecond": 0.001},
          "tiers": {"frozen": {"capacity": 10, "refillPerSecond": 0}}})",
      {.max_clients = 8});
  for (const int i : {3, 1, 7, 5, 2, 6, 4}) host.set_tier("frozen " + std::to_string(i), "frozen");
  for (int i = 1; i <= 7; ++i) REQUIRE(host.take("frozen " + std::to_string(i), i));
  REQUIRE(host.take("thawed", 8, 10));
  REQUIRE(host.take("first", 8, 1, "frozen"));
  CHECK(host.tokens("thawed", 8) == 10);
  REQUIRE(host.take("second", 8, 1, "frozen"));
  CHECK(host.tokens("frozen 1", 8) == 10);
  for (int i = 2; i <= 7; ++i) CHECK(host.tokens("frozen " + std::to_string(i), 8) == 9);
  REQUIRE(host.take("third", 8, 1, "frozen"));
  CHECK(host.tokens("frozen 2", 8) == 10);
  CHECK(host.tokens("frozen 3", 8) == 9);
  CHECK(host.limiter.stats().evicted_tokens == 12);
}

TEST_CASE("limiter: what an eviction gave away counts by the limit that the client may be judged by next") {
  // Full under the small limit that judged it last, and as good as empty under the large one.
  Host host(R"({"default": {"capacity": 5, "refillPerSecond": 0},
                "tiers": {"big": {"capacity": 100, "refillPerSecond": 0},
                          "small": {"capacity": 1, "refillPerSecond": 1000}}})",
            {.max_clients = 8});
  REQUIRE(host.take("victim", 0, 100, "big"));
  REQUIRE_FALSE(host.take("victim", second, 2, "small"));
  double regained = 0;
  for (int i = 0; i < 200 && regained == 0; ++i) {
    host.check("new " + std::to_string(i), 2 * second, 100, "big");
    const double tokens = static_cast<double>(host.peek("victim", 2 * second, 1, "big").remaining);
    if (tokens > 1) regained = tokens - 1;
  }
  REQUIRE(regained == 99);
  CHECK(host.limiter.stats().evicted_tokens >= regained);
}

TEST_CASE("limiter: where new clients are refused they are told when there is room") {
  Host host(one_limit("10", "1"), {.max_clients = 8, .on_full = OnFull::deny});
  for (std::uint64_t i = 1; i <= 8; ++i) REQUIRE(host.take("client " + std::to_string(i), 0, i + 1));
  const std::string peeked = text(host.peek("new", 0));
  const Decision decision = host.check("new", 0);
  CHECK(text(decision) == "denied limit 10.000000 remaining 10 retry 2000000 reset 0 tier - table-full no-tier");
  CHECK(text(decision) == peeked);
  CHECK(host.limiter.stats().table_full == 1);
  CHECK(host.limiter.stats().denied == 1);
  CHECK(host.limiter.stats().buckets == 8);
  for (std::uint64_t i = 1; i <= 8; ++i) {
    CHECK(host.tokens("client " + std::to_string(i), 0) == static_cast<std::int64_t>(9 - i));
  }
  CHECK(host.take("client 3", 0));  // who is known is served
  CHECK(host.check("new", 2 * second - 1).retry == 1U);
  CHECK(host.take("new", 2 * second));
  CHECK(host.limiter.stats().evictions == 0);
  CHECK(host.limiter.stats().swept == 1);
  CHECK(host.limiter.stats().buckets == 8);
  CHECK(host.check("newer", 2 * second).reason == Reason::table_full);
}

TEST_CASE("limiter: where nothing will be forgotten there will never be room") {
  const char* const frozen = R"({"default": {"capacity": 2, "refillPerSecond": 0}})";
  Host host(frozen, {.max_clients = 8, .on_full = OnFull::deny});
  Host keeper(five_a_second, {.max_clients = 8, .on_full = OnFull::deny, .sweep = false});
  Host tiny(five_a_second, {.max_bytes = 100});
  for (int i = 0; i < 8; ++i) {
    REQUIRE(host.take("client " + std::to_string(i), 0));
    REQUIRE(keeper.take("client " + std::to_string(i), 0));
  }
  for (Host* each : {&host, &keeper, &tiny}) {
    const Decision decision = each->check("new", 100 * second);
    CHECK(decision.reason == Reason::table_full);
    CHECK_FALSE(decision.retry.has_value());
  }
  CHECK(tiny.limiter.stats().table_full == 1);
}

TEST_CASE("limiter: a cost above the capacity is told as such, room or not") {
  // It can never succeed, so there is nothing to wait for; and its bucket stays full, so there is nothing to remember.
  const auto on_full = GENERATE(OnFull::deny, OnFull::evict);
  Host host(one_limit("10", "1"), {.max_clients = 8, .on_full = on_full});
  for (int i = 0; i < 8; ++i) REQUIRE(host.take("client " + std::to_string(i), 0));
  const char* const expected =
      "denied limit 10.000000 remaining 10 retry never reset 0 tier - cost-exceeds-capacity no-tier";
  CHECK(text(host.peek("new", 0, 11)) == expected);
  CHECK(text(host.check("new", 0, 11)) == expected);
  for (int i = 0; i < 8; ++i) CHECK(host.tokens("client " + std::to_string(i), 0) == 9);
  CHECK(host.limiter.stats().denied == 1);
  CHECK(host.limiter.stats().table_full == 0);
  CHECK(host.limiter.stats().evictions == 0);
}

TEST_CASE("limiter: counts what it does") {
  Host host(five_a_second);
  for (int i = 0; i < 7; ++i) host.check("acme", 0);
  host.check("other", 0, 6);
  host.set_tier("other", "pro");
  const LimiterStats stats = host.limiter.stats();
  CHECK(stats.allowed == 5);
  CHECK(stats.denied == 3);
  CHECK(stats.buckets == 2);
  CHECK(stats.bytes == 64 + 16 * 32 + 8);
  CHECK(stats.assignments == 1);
  CHECK(stats.evictions == 0);
  CHECK(stats.evicted_tokens == 0);
  CHECK(stats.swept == 0);
  CHECK(stats.table_full == 0);
}
