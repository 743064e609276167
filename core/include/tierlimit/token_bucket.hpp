// SPDX-License-Identifier: MIT
/// \file
/// The token bucket: the one place that decides whether a request is admitted.
#pragma once

#include <cstdint>

#include "tierlimit/policy.hpp"

namespace tierlimit {

/// The wait for what does not come, in microseconds.
inline constexpr std::uint64_t never = ~std::uint64_t{0};

/// What is remembered of one bucket.
struct BucketState {
  /// Of a token bucket: credits, in the unit of the limit that last judged it; 0 to its `full`. Of a fixed window: the
  /// tokens charged in it. Of a sliding window: the address of its log, or 0.
  std::int64_t balance = 0;
  /// Time of the last decision, in microseconds. Of a fixed window that anything was charged in: when it began.
  std::int64_t touched = 0;
};

/// What one step found.
struct Outcome {
  enum class Verdict : std::uint8_t { admitted, exhausted, cost_exceeds_capacity, never_refills };
  Verdict verdict = Verdict::admitted;
  /// The state to store: accrued to the time of the step, and charged if admitted.
  BucketState state;
};

/// A bucket that was never used: full.
[[nodiscard]] inline BucketState full_bucket(const Limit& limit, std::int64_t now) noexcept {
  return {limit.full, now};
}

/// `balance` credits of the limit `from` as credits of the limit `to`, rounded down to a whole credit. A balance that
/// is more than `to` holds comes back as `to.full`.
/// \param on_raise  what happens to it where the capacity grows. Whatever that is rounds down too.
[[nodiscard]] std::int64_t move_balance(std::int64_t balance, const Limit& from, const Limit& to,
                                        OnRaise on_raise = OnRaise::keep) noexcept;

/// The balance at `now`: the time since the last touch accrues at the limit's rate up to its capacity.
/// \param now  microseconds, not earlier than `state.touched`
[[nodiscard, gnu::always_inline]] inline std::int64_t accrued(const Limit& limit, const BucketState& state,
                                                              std::int64_t now) noexcept {
  const std::uint64_t elapsed = static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(state.touched);
  if (elapsed >= limit.fill) return limit.full;
  // Less time than an empty bucket takes to fill: the product is below `full`, and the sum below 2^64.
  const std::uint64_t balance =
      static_cast<std::uint64_t>(state.balance) + elapsed * static_cast<std::uint64_t>(limit.gain);
  const auto full = static_cast<std::uint64_t>(limit.full);
  return static_cast<std::int64_t>(balance < full ? balance : full);
}

/// One decision: accrue, then admit and charge `cost` tokens if the bucket holds them. Pure; stores nothing.
///
/// \param limit  the limit now in force
/// \param state  the bucket, its balance already in this limit's unit (`move_balance`)
/// \param now    microseconds, not earlier than `state.touched` (the caller checks: an earlier reading is an error)
/// \param cost   whole tokens, at least 1
[[nodiscard, gnu::always_inline]] inline Outcome step(const Limit& limit, const BucketState& state, std::int64_t now,
                                                      std::uint64_t cost) noexcept {
  using Verdict = Outcome::Verdict;
  const std::int64_t balance = accrued(limit, state, now);
  // Settled before any product: a cost up to `whole` times the unit is at most `full`.
  if (cost > static_cast<std::uint64_t>(limit.whole)) return {Verdict::cost_exceeds_capacity, {balance, now}};
  const std::int64_t price = static_cast<std::int64_t>(cost) * limit.unit;
  if (balance >= price) return {Verdict::admitted, {balance - price, now}};
  return {limit.gain == 0 ? Verdict::never_refills : Verdict::exhausted, {balance, now}};
}

/// Microseconds in which `balance` becomes `wanted` credits: 0 when it is that much, `never` when it will not.
/// \param wanted  at most `limit.full`
[[nodiscard]] std::uint64_t time_until(const Limit& limit, std::int64_t balance, std::int64_t wanted) noexcept;

}  // namespace tierlimit
