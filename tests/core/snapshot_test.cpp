// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "tierlimit/limiter.hpp"

namespace {

using tierlimit::LimiterOptions;
using tierlimit::TierLimiter;
using tierlimit::codec::Stream;
using Bytes = std::vector<unsigned char>;

Stream into(Bytes& bytes) {
  Stream stream;
  stream.context = &bytes;
  stream.write = [](void* context, const void* piece, std::size_t size) {
    const auto* const from = static_cast<const unsigned char*>(piece);
    static_cast<Bytes*>(context)->insert(static_cast<Bytes*>(context)->end(), from, from + size);
  };
  return stream;
}

Stream from(Bytes& bytes) {
  Stream stream;
  stream.context = &bytes;
  stream.size = bytes.size();
  stream.read = [](void* context, std::uint64_t at, void* piece, std::size_t size) {
    std::copy_n(static_cast<Bytes*>(context)->data() + at, size, static_cast<unsigned char*>(piece));
  };
  return stream;
}

Bytes snapshot_of(TierLimiter& limiter, std::int64_t now) {
  Bytes bytes;
  REQUIRE(limiter.snapshot(into(bytes), now).ok());
  return bytes;
}

std::string failure(Bytes bytes, const LimiterOptions& options = {}) {
  TierLimiter limiter(options);
  const auto restored = limiter.restore(from(bytes), 0);
  return restored.ok() ? "" : std::string(restored.error().message);
}

constexpr const char* policies = R"({
  "default": {"capacity": 5, "refillPerSecond": 1},
  "tiers": {
    "pro": {"limits": [{"name": "main", "capacity": 10, "refillPerSecond": 0.3, "accrual": "prorated"},
                       {"name": "daily", "algorithm": "sliding-window", "limit": 20, "windowSeconds": 60},
                       {"name": "hourly", "algorithm": "fixed-window", "limit": 30, "windowSeconds": 3600}]},
    "broken": {"capacity": 0}
  },
  "clients": {"acme": "pro", "lost": "gone"}
})";

constexpr std::int64_t second = 1'000'000;

std::unique_ptr<TierLimiter> used_limiter() {
  auto limiter = std::make_unique<TierLimiter>();
  REQUIRE(limiter->set_policies(policies).ok());
  REQUIRE(limiter->seed({1, 2}));
  REQUIRE(limiter->check({.client = "acme", .cost = 7}, 10 * second).value().allowed);
  REQUIRE(limiter->check({.client = "acme", .cost = 2}, 11 * second).value().allowed);
  REQUIRE(limiter->check({.client = "initech", .cost = 4}, 12 * second).value().allowed);
  REQUIRE(limiter->set_policies(std::string(policies).replace(std::string(policies).find("0.3"), 3, "0.5"), 13 * second)
              .ok());
  REQUIRE(limiter->set_tier("initech", "pro", tierlimit::OnRaise::fill, 13 * second).ok());
  return limiter;
}

// After a change of the content.
void repair(Bytes& bytes) {
  const std::string_view content{reinterpret_cast<const char*>(bytes.data()) + 24, bytes.size() - 24};
  const std::uint64_t checksum = tierlimit::SipHash128<1, 3>::of({}, content)[0];
  std::memcpy(bytes.data() + 16, &checksum, 8);
}

}  // namespace

TEST_CASE("snapshot: a restored limiter answers as the one it was taken of, at its own clock") {
  const auto original = used_limiter();
  Bytes bytes = snapshot_of(*original, 14 * second);
  TierLimiter restored;
  REQUIRE(restored.restore(from(bytes), -1000 * second).ok());
  CHECK(restored.revision() == original->revision());
  REQUIRE(restored.rejected().size() == original->rejected().size());
  CHECK(restored.rejected()[0].path == "/tiers/broken/capacity");
  CHECK(restored.rejected().back().message == original->rejected().back().message);
  CHECK(restored.stats().buckets == original->stats().buckets);
  CHECK(restored.stats().bytes <= original->stats().bytes);
  CHECK(restored.stats().assignments == 1);
  for (const std::int64_t later : {0, 1, 3, 50, 60, 4000}) {
    for (const char* client : {"acme", "initech", "new"}) {
      CAPTURE(later, client);
      const auto a = original->check({.client = client, .cost = 1}, (14 + later) * second).value();
      const auto b = restored.check({.client = client, .cost = 1}, (-1000 + later) * second).value();
      CHECK(a.allowed == b.allowed);
      CHECK(a.limit_name == b.limit_name);
      CHECK(a.tier == b.tier);
      CHECK(a.fallback == b.fallback);
      REQUIRE(a.limits.size() == b.limits.size());
      for (std::size_t i = 0; i < a.limits.size(); ++i) {
        CHECK(a.limits[i].remaining == b.limits[i].remaining);
        CHECK(a.limits[i].retry == b.limits[i].retry);
        CHECK(a.limits[i].reset == b.limits[i].reset);
        CHECK(a.limits[i].window == b.limits[i].window);
        CHECK(a.limits[i].more == b.limits[i].more);
      }
    }
  }
}

namespace {

// A document of a default and a tier, both prorated, by their rates.
std::string prorated(int default_rate, int pro_rate, const char* on_raise = "keep", int capacity = 100) {
  const auto policy = [&](int rate) {
    return R"({"capacity": )" + std::to_string(capacity) + R"(, "refillPerSecond": )" + std::to_string(rate) +
           R"(, "accrual": "prorated", "onRaise": ")" + on_raise + R"("})";
  };
  return R"({"default": )" + policy(default_rate) + R"(, "tiers": {"pro": )" + policy(pro_rate) + "}}";
}

}  // namespace

TEST_CASE("snapshot: whose tier was set since the last decision accrues by that tier") {
  TierLimiter limiter;
  REQUIRE(limiter.set_policies(prorated(10, 1)).ok());
  REQUIRE(limiter.seed({3, 4}));
  REQUIRE(limiter.check({.client = "acme", .cost = 100}, 0).value().allowed);
  REQUIRE(limiter.set_tier("acme", "pro", tierlimit::OnRaise::keep, 0).ok());
  Bytes bytes = snapshot_of(limiter, 5 * second);
  TierLimiter restored;
  REQUIRE(restored.restore(from(bytes), 0).ok());
  CHECK(limiter.peek({.client = "acme"}, 5 * second).value().remaining == 5);
  CHECK(restored.peek({.client = "acme"}, 0).value().remaining == 5);
  // By call it is the default's as before.
  CHECK(limiter.peek({.client = "acme", .tier = "none"}, 5 * second).value().remaining == 50);
  CHECK(restored.peek({.client = "acme", .tier = "none"}, 0).value().remaining == 50);
}

TEST_CASE("snapshot: the documents that a client has not met yet are met after it, whichever tier judges") {
  TierLimiter limiter;
  REQUIRE(limiter.set_policies(prorated(10, 1)).ok());
  REQUIRE(limiter.seed({3, 4}));
  for (const char* client : {"acme", "initech", "umbrella"}) {
    REQUIRE(limiter.check({.client = client, .cost = 100}, 0).value().allowed);
  }
  REQUIRE(limiter.set_policies(prorated(1, 3), second).ok());
  REQUIRE(limiter.set_tier("acme", "pro", tierlimit::OnRaise::proportional, 2 * second).ok());
  REQUIRE(limiter.set_policies(prorated(2, 1, "add", 110), 4 * second).ok());
  REQUIRE(limiter.check({.client = "umbrella", .cost = 1, .tier = "pro"}, 5 * second).value().allowed);
  REQUIRE(limiter.set_policies(prorated(2, 1, "add", 110), 6 * second).ok());

  Bytes bytes = snapshot_of(limiter, 7 * second);
  TierLimiter restored;
  REQUIRE(restored.restore(from(bytes), -7 * second).ok());
  CHECK(restored.changed() == -8 * second);
  // Looked at by each of both in turn, before any decision has been made since.
  for (const std::int64_t later : {0, 1, 9, 200}) {
    for (const char* client : {"acme", "initech", "umbrella", "new"}) {
      for (const auto tier : {std::optional<std::string_view>{}, std::optional<std::string_view>{"pro"},
                              std::optional<std::string_view>{"none"}}) {
        CAPTURE(later, client, tier.value_or("its own"));
        const auto a = limiter.peek({.client = client, .tier = tier}, (7 + later) * second).value();
        const auto b = restored.peek({.client = client, .tier = tier}, (-7 + later) * second).value();
        CHECK(a.remaining == b.remaining);
        CHECK(a.reset == b.reset);
      }
    }
  }
  // And by documents to come.
  REQUIRE(limiter.set_policies(prorated(0, 0, "fill", 120), 8 * second).ok());
  CHECK(restored.set_policies(prorated(0, 0, "fill", 120), -9 * second).error()[0].code == tierlimit::ErrorCode::clock);
  REQUIRE(restored.set_policies(prorated(0, 0, "fill", 120), -6 * second).ok());
  for (const char* client : {"acme", "initech", "umbrella", "new"}) {
    CAPTURE(client);
    const auto a = limiter.check({.client = client}, 9 * second).value();
    const auto b = restored.check({.client = client}, -5 * second).value();
    CHECK(a.remaining == b.remaining);
    CHECK(a.remaining == 119);
  }
}

TEST_CASE("snapshot: documents of one time are told apart by the limits that judged") {
  // The last one says what the first one said, and the one between cuts balances down.
  TierLimiter limiter;
  REQUIRE(limiter.set_policies(prorated(1, 1)).ok());
  REQUIRE(limiter.seed({3, 4}));
  REQUIRE(limiter.set_policies(prorated(2, 1), second).ok());
  REQUIRE(limiter.check({.client = "acme", .cost = 1}, second).value().allowed);
  REQUIRE(limiter.set_policies(prorated(2, 1, "keep", 10), second).ok());
  REQUIRE(limiter.set_policies(prorated(2, 1), second).ok());
  Bytes bytes = snapshot_of(limiter, second);
  TierLimiter restored;
  REQUIRE(restored.restore(from(bytes), 0).ok());
  CHECK(limiter.peek({.client = "acme"}, second).value().remaining == 10);
  CHECK(restored.peek({.client = "acme"}, 0).value().remaining == 10);
}

TEST_CASE("snapshot: a drained client is still drained") {
  TierLimiter limiter;
  REQUIRE(limiter.set_policies(R"({"default": {"capacity": 5, "refillPerSecond": 0}})").ok());
  REQUIRE(limiter.seed({3, 4}));
  REQUIRE(limiter.check({.client = "acme", .cost = 5}, 5'000'000 * second).value().allowed);
  Bytes bytes = snapshot_of(limiter, 5'000'000 * second);
  TierLimiter restored;
  REQUIRE(restored.restore(from(bytes), 1).ok());
  CHECK_FALSE(restored.check({.client = "acme"}, 1).value().allowed);
  CHECK_FALSE(restored.check({.client = "acme"}, 9'000'000 * second).value().allowed);
}

TEST_CASE("snapshot: of a snapshot's restoring comes the same snapshot") {
  const auto original = used_limiter();
  Bytes bytes = snapshot_of(*original, 14 * second);
  TierLimiter restored;
  REQUIRE(restored.restore(from(bytes), 14 * second).ok());
  TierLimiter again;
  Bytes second_bytes = snapshot_of(restored, 14 * second);
  REQUIRE(again.restore(from(second_bytes), 14 * second).ok());
  CHECK(snapshot_of(again, 14 * second) == second_bytes);
}

TEST_CASE("snapshot: what is wrong with bytes is told") {
  const auto original = used_limiter();
  const Bytes whole = snapshot_of(*original, 14 * second);
  CHECK(failure(whole).empty());
  CHECK(failure({}) == "the snapshot is none");
  CHECK(failure(Bytes(100, 'x')) == "the snapshot is none");
  for (std::size_t size = 24; size < whole.size(); ++size) {
    REQUIRE(failure(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))) ==
            "the snapshot has not as many bytes as were written");
  }
  for (std::size_t at = 24; at < whole.size(); ++at) {
    Bytes altered = whole;
    altered[at] ^= 0x10;
    REQUIRE(failure(altered) == "the snapshot is not as it was written");
  }
  Bytes newer = whole;
  newer[4] = 3;
  CHECK(failure(newer) == "the snapshot is of a format that this version does not read");
  Bytes turned = whole;
  std::reverse(turned.begin(), turned.begin() + 4);
  CHECK(failure(turned) == "the snapshot was written by a machine with the other order of bytes");
}

TEST_CASE("snapshot: many clients come back, though in the order of their places") {
  TierLimiter limiter;
  REQUIRE(limiter.set_policies(R"({"default": {"capacity": 5, "refillPerSecond": 0}})").ok());
  REQUIRE(limiter.seed({3, 4}));
  constexpr int count = 50'000;
  for (int i = 0; i < count; ++i) {
    REQUIRE(limiter.check({.client = std::to_string(i), .cost = 1}, 0).value().allowed);
    REQUIRE(limiter.set_tier(std::to_string(i), "pro").ok());
  }
  Bytes bytes = snapshot_of(limiter, 0);
  TierLimiter restored;
  REQUIRE(restored.restore(from(bytes), 0).ok());
  CHECK(restored.stats().buckets == count);
  CHECK(restored.stats().assignments == count);
  for (int i = 0; i < count; ++i) {
    const auto decision = restored.peek({.client = std::to_string(i)}, 0).value();
    REQUIRE(decision.remaining == 4);
    REQUIRE(decision.tier == "pro");
  }
}

TEST_CASE("snapshot: what set_tier asks for is forgotten with the bucket that it was for") {
  constexpr const char* documents = R"({
    "default": {"capacity": 5, "refillPerSecond": 1},
    "tiers": {"small": {"capacity": 1, "refillPerSecond": 1}, "large": {"capacity": 50, "refillPerSecond": 0}}
  })";
  TierLimiter limiter({.max_clients = 10});
  REQUIRE(limiter.set_policies(documents).ok());
  REQUIRE(limiter.seed({3, 4}));
  std::int64_t now = 0;
  // Each is put into a tier and taken out of it again, and stays away until others have its place.
  for (int i = 0; i < 20'000; ++i) {
    const std::string client = std::to_string(i);
    now += 100'000;
    REQUIRE(limiter.check({.client = client}, now).value().allowed);
    REQUIRE(limiter.set_tier(client, "small").ok());
    REQUIRE(limiter.set_tier(client, std::nullopt, tierlimit::OnRaise::fill).ok());
  }
  CHECK(limiter.stats().assignments == 0);
  CHECK(snapshot_of(limiter, now).size() < 1000);
  // One of them comes back by a tier that is named, and then by its own: nothing waits for it.
  REQUIRE(limiter.check({.client = "0", .tier = "small"}, now).value().allowed);
  CHECK(limiter.peek({.client = "0"}, now).value().remaining == 0);
}

TEST_CASE("snapshot: more buckets than there may be") {
  TierLimiter limiter;
  REQUIRE(limiter.set_policies(R"({"default": {"capacity": 5, "refillPerSecond": 1}})").ok());
  REQUIRE(limiter.seed({3, 4}));
  for (int i = 0; i < 100; ++i) {
    REQUIRE(limiter.check({.client = std::to_string(i), .cost = 5}, 0).value().allowed);
  }
  const Bytes bytes = snapshot_of(limiter, 0);
  CHECK(failure(bytes, {.max_clients = 100}).empty());
  CHECK(failure(bytes, {.max_clients = 99}) == "the snapshot holds more than there is room for");
  CHECK(failure(bytes, {.max_bytes = 2000}) == "the snapshot holds more than there is room for");
}

TEST_CASE("several limits: a log that has grown is known by its new place where another limit finds no room") {
  // Found by fuzzing: what was told of the limit was read from the log that had been freed.
  TierLimiter limiter({.max_clients = 8, .on_full = LimiterOptions::OnFull::deny, .sweep = false});
  REQUIRE(limiter
              .set_policies(R"({
    "default": {"capacity": 100, "refillPerSecond": 0},
    "tiers": {
      "one": {"limits": [{"name": "day", "algorithm": "sliding-window", "limit": 100, "windowSeconds": 60}]},
      "two": {"limits": [{"name": "day", "algorithm": "sliding-window", "limit": 100, "windowSeconds": 60},
                         {"name": "burst", "capacity": 5, "refillPerSecond": 1}]}
    }})")
              .ok());
  REQUIRE(limiter.seed({1, 2}));
  for (int i = 0; i < 4; ++i) {
    REQUIRE(limiter.check({.client = "acme", .cost = 2, .tier = "one"}, second + i).value().allowed);
  }
  for (int i = 0; i < 7; ++i) {
    REQUIRE(limiter.check({.client = std::to_string(i)}, second).value().allowed);
  }
  const auto decision = limiter.check({.client = "acme", .tier = "two"}, second + 4).value();
  CHECK_FALSE(decision.allowed);
  CHECK(decision.reason == tierlimit::Reason::table_full);
  CHECK(decision.limit_name == "burst");
  REQUIRE(decision.limits.size() == 2);
  CHECK(decision.limits[0].remaining == 92);
}

TEST_CASE("snapshot: what is accepted of a document stays accepted under strict") {
  const auto original = used_limiter();
  Bytes bytes = snapshot_of(*original, 14 * second);
  TierLimiter restored({.strict = true});
  REQUIRE(restored.restore(from(bytes), 0).ok());
  CHECK_FALSE(restored.set_policies(policies, 0).ok());
}

TEST_CASE("snapshot: a bucket at another's place is none") {
  // As somebody might make it who knows the secret: the places of a token bucket and of a sliding window, exchanged.
  TierLimiter limiter;
  REQUIRE(limiter
              .set_policies(R"({"default": {"limits": [
      {"name": "main", "capacity": 500, "refillPerSecond": 0},
      {"name": "day", "algorithm": "sliding-window", "limit": 100, "windowSeconds": 60}]}})")
              .ok());
  REQUIRE(limiter.seed({1, 2}));
  REQUIRE(limiter.check({.client = "acme", .cost = 3}, second).value().allowed);
  Bytes bytes = snapshot_of(limiter, second);
  // The two buckets are at the end: one of 12 + 4 + 8 + 8 bytes, and one with an entry of 16 more, in either order.
  const std::size_t end = bytes.size();
  const bool log_last = bytes[end - 16 - 8] == 1;
  const std::size_t first = end - 32 - 48;
  const std::size_t other = log_last ? first + 32 : first + 48;
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(first),
                   bytes.begin() + static_cast<std::ptrdiff_t>(first) + 12,
                   bytes.begin() + static_cast<std::ptrdiff_t>(other));
  repair(bytes);
  TierLimiter restored;
  REQUIRE(restored.restore(from(bytes), second).ok());
  const auto decision = restored.check({.client = "acme"}, second).value();
  CHECK(decision.allowed);
  CHECK(decision.limits[0].remaining == 499);
  CHECK(decision.limits[1].remaining == 99);
}

TEST_CASE("snapshot: there is a last revision, which stays and can be restored") {
  Bytes bytes = snapshot_of(*used_limiter(), 14 * second);
  const auto with_revision = [&](std::uint32_t revision) {
    std::memcpy(bytes.data() + 40, &revision, sizeof revision);
    repair(bytes);
  };
  for (const std::uint32_t wrong : {0U, 0x8000'0000U, 0xffff'ffffU}) {
    with_revision(wrong);
    TierLimiter refused;
    CHECK_FALSE(refused.restore(from(bytes), 0).ok());
  }
  with_revision(TierLimiter::last_revision - 1);
  TierLimiter restored;
  REQUIRE(restored.restore(from(bytes), 0).ok());
  CHECK(restored.set_policies(policies, second).value() == TierLimiter::last_revision);
  CHECK(restored.set_policies(policies, 2 * second).value() == TierLimiter::last_revision);
  Bytes again = snapshot_of(restored, 3 * second);
  TierLimiter last;
  REQUIRE(last.restore(from(again), 0).ok());
  CHECK(last.revision() == TierLimiter::last_revision);
}

TEST_CASE("snapshot: whatever is changed in it, it is refused or gives a limiter that works") {
  const Bytes whole = snapshot_of(*used_limiter(), 14 * second);
  int restored_ones = 0;
  for (std::size_t at = 24; at < whole.size(); ++at) {
    for (const int value : {0, 1, 2, 3, 4, 5, 8, 0x7f, 0x80, 0xff}) {
      Bytes bytes = whole;
      bytes[at] = static_cast<unsigned char>(value);
      repair(bytes);
      TierLimiter limiter;
      if (!limiter.restore(from(bytes), 0).ok()) continue;
      ++restored_ones;
      Bytes again = snapshot_of(limiter, 0);
      for (const char* client : {"acme", "initech", "new"}) {
        static_cast<void>(limiter.check({.client = client}, second));
        static_cast<void>(limiter.refund({.client = client, .tier = "pro"}, 2 * second));
        static_cast<void>(limiter.set_tier(client, "lost", tierlimit::OnRaise::add, 3 * second));
      }
      static_cast<void>(limiter.set_policies(policies, 4 * second));
      static_cast<void>(limiter.check({.client = "acme", .tier = "pro"}, 5 * second));
      TierLimiter twice;
      REQUIRE(twice.restore(from(again), 0).ok());
    }
  }
  CHECK(restored_ones > 100);
}
