// SPDX-License-Identifier: MIT
/// \file
/// The fixed window: so many tokens from the first charge on, until the window ends.
#pragma once

#include <cstdint>

#include "tierlimit/token_bucket.hpp"

namespace tierlimit::fixed_window {

/// The state at `now`. A window [begin, begin + W) that has ended is none any more; where there is none, `touched` is
/// the present time.
/// \param now  microseconds, not earlier than `state.touched`
[[nodiscard]] inline BucketState at(const Limit& limit, const BucketState& state, std::int64_t now) noexcept {
  const std::uint64_t elapsed = static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(state.touched);
  return state.balance != 0 && elapsed < limit.fill ? state : BucketState{0, now};
}

/// Tokens left in the window, of a state that is up to date (`at`). The limit may have become smaller meanwhile.
[[nodiscard]] inline std::int64_t remaining(const Limit& limit, const BucketState& state) noexcept {
  return limit.whole > state.balance ? limit.whole - state.balance : 0;
}

/// One decision, as `step` of a token bucket. A window begins with the first charge.
[[nodiscard]] inline Outcome step(const Limit& limit, const BucketState& before, std::int64_t now,
                                  std::uint64_t cost) noexcept {
  using Verdict = Outcome::Verdict;
  const BucketState state = at(limit, before, now);
  if (cost > static_cast<std::uint64_t>(limit.whole)) return {Verdict::cost_exceeds_capacity, state};
  const auto price = static_cast<std::int64_t>(cost);
  if (price > remaining(limit, state)) return {Verdict::exhausted, state};
  return {Verdict::admitted, {state.balance + price, state.touched}};
}

/// Microseconds until the window ends, of a state that is up to date; 0 where there is none.
[[nodiscard]] inline std::uint64_t time_to_end(const Limit& limit, const BucketState& state,
                                               std::int64_t now) noexcept {
  if (state.balance == 0) return 0;
  return limit.fill - (static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(state.touched));
}

}  // namespace tierlimit::fixed_window
