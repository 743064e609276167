// SPDX-License-Identifier: MIT
// Bytes as a snapshot. The first one tells whether the rest is taken as it is, or with a header that fits it, which no
// fuzzer would find by itself. Either it is refused, or it is a limiter that does all that a limiter does.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "documents.hpp"
#include "expect.hpp"
#include "snapshot_bytes.hpp"
#include "snapshot_clients.hpp"
#include "tierlimit/limiter.hpp"

namespace {

using documents::second;
using tierlimit::Decision;
using tierlimit::ErrorCode;
using tierlimit::LimiterOptions;
using tierlimit::OnRaise;
using tierlimit::Request;
using tierlimit::TierLimiter;

void check_shape(const Decision& decision) {
  EXPECT(!decision.limits.empty());
  EXPECT(decision.remaining >= 0 && static_cast<double>(decision.remaining) <= decision.limit);
  for (const auto& limit : decision.limits) {
    EXPECT(limit.remaining >= 0 && static_cast<double>(limit.remaining) <= limit.limit);
  }
}

// The limits of a snapshot may say of themselves what they are not: a capacity of 1e300 that holds 5. So the answers
// mean nothing, but there are answers.
void use(TierLimiter& limiter, std::int64_t now) {
  for (const char* const client : snapshot_clients) {
    for (const char* const tier : {"", "a", "b", "c"}) {
      Request request{client};
      if (*tier != '\0') request.tier = tier;
      const auto peeked = limiter.peek(request, now);
      const auto decided = limiter.check(request, now);
      EXPECT(peeked.ok() == decided.ok());
      EXPECT(decided.ok() || decided.error().code == ErrorCode::clock);
      if (!decided.ok()) continue;
      check_shape(decided.value());
      static_cast<void>(limiter.refund({client, 2, request.tier}, now));
      const auto reserved = limiter.reserve({client, 2, request.tier}, now);
      if (reserved.ok() && reserved.value().decision.allowed) {
        static_cast<void>(limiter.settle(reserved.value(), 1, now));
        static_cast<void>(limiter.settle(reserved.value(), 5, now));
      }
    }
  }
  static_cast<void>(limiter.stats());
}

void change(TierLimiter& limiter, std::int64_t now) {
  static_cast<void>(limiter.set_tier("acme", "c", OnRaise::fill, now));
  static_cast<void>(limiter.set_tier("globex", std::nullopt, OnRaise::add, now));
  // Such as change the algorithms and accrue in parts.
  static const std::string text =
      R"({"default": {"capacity": 9, "refillPerSecond": 3, "accrual": "prorated", "onRaise": "proportional"}, "tiers": {)"
      R"("a": {"limits": [{"name": "main", "algorithm": "sliding-window", "limit": 5, "windowSeconds": 9}, )"
      R"({"name": "burst", "capacity": 50, "refillPerSecond": 7, "onRaise": "add"}]}}})";
  static_cast<void>(limiter.set_policies(text, now));
  use(limiter, now);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

// Beside what libFuzzer does to bytes, now and then a number becomes one at an edge, and the fingerprints of two
// buckets change places: no other change makes a client's bucket one of another limit.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size, std::size_t most, unsigned seed) {
  constexpr std::size_t fingerprint = sizeof(tierlimit::Fingerprint);
  // A bucket takes 32 bytes, and 16 more for each entry of a log.
  const std::size_t distance = 32 + std::size_t{16} * (seed / 4 % 4);
  if (seed % 4 > 1 || size < distance + fingerprint) return LLVMFuzzerMutate(bytes, size, most);
  std::uint8_t* const at = bytes + seed / 16 % (size - distance - fingerprint + 1);
  if (seed % 4 == 0) {
    constexpr std::int64_t edges[] = {0, 1, std::numeric_limits<std::int64_t>::max(), -1};
    std::memcpy(at, &edges[seed / 4 % 4], sizeof edges[0]);
  } else {
    std::swap_ranges(at, at + fingerprint, at + distance);
  }
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  if (size == 0) return 0;
  Bytes snapshot(bytes + 1, bytes + size);
  if (bytes[0] % 2 != 0) repair(snapshot);
  LimiterOptions options;
  if (bytes[0] / 2 % 2 != 0) options.max_clients = 8;
  if (bytes[0] / 4 % 2 != 0) options.on_full = LimiterOptions::OnFull::deny;
  constexpr std::int64_t now = 5'000 * second;
  TierLimiter limiter(options);
  const auto restored = limiter.restore(from(snapshot), now);
  if (!restored.ok()) {
    EXPECT(restored.error().code == ErrorCode::invalid_snapshot || restored.error().code == ErrorCode::out_of_memory);
    EXPECT(!restored.error().message.empty());
    return 0;
  }
  EXPECT(limiter.revision() != 0 && limiter.seeded());
  Bytes again = snapshot_of(limiter, now);
  TierLimiter other(options);
  EXPECT(other.restore(from(again), now).ok());
  EXPECT(other.stats().buckets == limiter.stats().buckets);
  use(limiter, now);
  // What was touched later than it is now, as a snapshot may say, is so no more in the far future.
  use(limiter, bytes[0] / 8 % 2 == 0 ? now + 100'000 * second : tierlimit::max_micros);
  change(other, now + 1);
  Bytes last = snapshot_of(other, now + 2);
  TierLimiter third(options);
  EXPECT(third.restore(from(last), 0).ok());
  return 0;
}
