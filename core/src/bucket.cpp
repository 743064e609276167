// SPDX-License-Identifier: MIT
#include "tierlimit/bucket.hpp"

namespace tierlimit {

Outcome step_by(const Limit& limit, const BucketState& state, std::int64_t now, std::uint64_t cost) noexcept {
  switch (limit.algorithm) {
    case Algorithm::sliding_window: return sliding_window::step(limit, state, now, cost);
    case Algorithm::fixed_window: return fixed_window::step(limit, state, now, cost);
    default: return step(limit, state, now, cost);
  }
}

BucketState state_at(const Limit& limit, const BucketState& state, std::int64_t now) noexcept {
  switch (limit.algorithm) {
    case Algorithm::sliding_window: return {state.balance, now};
    case Algorithm::fixed_window: return fixed_window::at(limit, state, now);
    default: return {accrued(limit, state, now), now};
  }
}

std::int64_t remaining(const Limit& limit, const BucketState& state, std::int64_t now) noexcept {
  switch (limit.algorithm) {
    case Algorithm::sliding_window: {
      const WindowLog* const log = sliding_window::log_of(state);
      return sliding_window::remaining(limit, sliding_window::live(limit, log, now));
    }
    case Algorithm::fixed_window: return fixed_window::remaining(limit, state);
    default: return state.balance / limit.unit;
  }
}

std::uint64_t time_to_admit(const Limit& limit, const BucketState& state, std::uint64_t cost,
                            std::int64_t now) noexcept {
  const auto price = static_cast<std::int64_t>(cost);
  switch (limit.algorithm) {
    case Algorithm::sliding_window:
      return sliding_window::time_until(limit, sliding_window::log_of(state), now, limit.whole - price);
    case Algorithm::fixed_window:
      return price <= fixed_window::remaining(limit, state) ? 0 : fixed_window::time_to_end(limit, state, now);
    default: return time_until(limit, state.balance, price * limit.unit);
  }
}

std::uint64_t time_to_full(const Limit& limit, const BucketState& state, std::int64_t now) noexcept {
  switch (limit.algorithm) {
    case Algorithm::sliding_window: return sliding_window::time_until(limit, sliding_window::log_of(state), now, 0);
    case Algorithm::fixed_window: return fixed_window::time_to_end(limit, state, now);
    default: return time_until(limit, state.balance, limit.full);
  }
}

std::uint64_t time_to_more(const Limit& limit, const BucketState& state, std::int64_t remaining,
                           std::int64_t now) noexcept {
  if (limit.algorithm == Algorithm::token_bucket) {
    return time_until(limit, state.balance - remaining * limit.unit, limit.unit);
  }
  // A window that nothing is charged in begins with what is charged first.
  if (remaining == limit.whole) return limit.fill;
  if (limit.algorithm == Algorithm::fixed_window) return fixed_window::time_to_end(limit, state, now);
  return sliding_window::time_until(limit, sliding_window::log_of(state), now, limit.whole - remaining - 1);
}

std::uint64_t missing_whole(const Limit& limit, const BucketState& state, std::int64_t now) noexcept {
  switch (limit.algorithm) {
    case Algorithm::sliding_window:
      return static_cast<std::uint64_t>(sliding_window::live(limit, sliding_window::log_of(state), now).tokens);
    case Algorithm::fixed_window: return static_cast<std::uint64_t>(state.balance);
    default: return static_cast<std::uint64_t>((limit.full - state.balance) / limit.unit);
  }
}

double missing(const Limit& limit, const BucketState& state, std::int64_t now) noexcept {
  if (limit.algorithm != Algorithm::token_bucket) return static_cast<double>(missing_whole(limit, state, now));
  return static_cast<double>(limit.full - state.balance) / static_cast<double>(limit.unit);
}

}  // namespace tierlimit
