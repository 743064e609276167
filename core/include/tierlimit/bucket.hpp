// SPDX-License-Identifier: MIT
/// \file
/// A bucket by whichever algorithm its limit has.
#pragma once

#include <cstdint>

#include "tierlimit/fixed_window.hpp"
#include "tierlimit/sliding_window.hpp"
#include "tierlimit/token_bucket.hpp"

namespace tierlimit {

/// A bucket that nobody has used.
[[nodiscard]] inline BucketState unused_bucket(const Limit& limit, std::int64_t now) noexcept {
  return {limit.algorithm == Algorithm::token_bucket ? limit.full : 0, now};
}

/// One decision by the limit's algorithm; see the `step` of each.
[[nodiscard]] Outcome step_by(const Limit& limit, const BucketState& state, std::int64_t now,
                              std::uint64_t cost) noexcept;

/// The state at `now`, nothing charged. (The log of a sliding window may have entries that do not count any more.)
/// \param now  microseconds, not earlier than `state.touched`
[[nodiscard]] BucketState state_at(const Limit& limit, const BucketState& state, std::int64_t now) noexcept;

// Of a state at `now`, as `state_at` gives it:

/// Whole tokens that may be spent.
[[nodiscard]] std::int64_t remaining(const Limit& limit, const BucketState& state, std::int64_t now) noexcept;

/// Microseconds until `cost` tokens, at most the capacity, may be spent; 0 or `never`.
[[nodiscard]] std::uint64_t time_to_admit(const Limit& limit, const BucketState& state, std::uint64_t cost,
                                          std::int64_t now) noexcept;

/// Microseconds until all that the limit allows may be spent; 0 or `never`.
[[nodiscard]] std::uint64_t time_to_full(const Limit& limit, const BucketState& state, std::int64_t now) noexcept;

/// Microseconds within which no more than the `remaining` tokens may be spent, whenever they are; above 0, or `never`.
[[nodiscard]] std::uint64_t time_to_more(const Limit& limit, const BucketState& state, std::int64_t remaining,
                                         std::int64_t now) noexcept;

/// The whole tokens that are missing to that, and all.
[[nodiscard]] std::uint64_t missing_whole(const Limit& limit, const BucketState& state, std::int64_t now) noexcept;
[[nodiscard]] double missing(const Limit& limit, const BucketState& state, std::int64_t now) noexcept;

}  // namespace tierlimit
