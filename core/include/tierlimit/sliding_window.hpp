// SPDX-License-Identifier: MIT
/// \file
/// The sliding window: at most so many tokens in any window of its length, by a log of what was charged when.
#pragma once

#include <cstdint>

#include "tierlimit/token_bucket.hpp"
#include "tierlimit/window_log.hpp"

namespace tierlimit::sliding_window {

/// The log that a state stands for; null: nothing was charged yet.
[[nodiscard]] inline WindowLog* log_of(const BucketState& state) noexcept {
  // A state is two numbers, of whatever algorithm.
  return reinterpret_cast<WindowLog*>(static_cast<std::uintptr_t>(state.balance));  // NOLINT(performance-no-int-to-ptr)
}

/// What of a log counts at one time: a charge at t is in the windows [t, t + W) and no other.
struct Live {
  std::uint32_t expired = 0;  ///< So many of the oldest entries do not count any more.
  std::int64_t tokens = 0;    ///< What the others come to.
};
[[nodiscard]] Live live(const Limit& limit, const WindowLog* log, std::int64_t now) noexcept;

/// Tokens left. The limit may have become smaller meanwhile.
[[nodiscard]] inline std::int64_t remaining(const Limit& limit, const Live& live) noexcept {
  return limit.whole > live.tokens ? limit.whole - live.tokens : 0;
}

/// One decision, as `step` of a token bucket. The log stays as it is: whoever stores an admission adds to it.
[[nodiscard]] Outcome step(const Limit& limit, const BucketState& state, std::int64_t now, std::uint64_t cost) noexcept;

/// Microseconds until no more than `most` tokens of the log count.
[[nodiscard]] std::uint64_t time_until(const Limit& limit, const WindowLog* log, std::int64_t now,
                                       std::int64_t most) noexcept;

}  // namespace tierlimit::sliding_window
