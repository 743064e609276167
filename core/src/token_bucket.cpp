// SPDX-License-Identifier: MIT
#include "tierlimit/token_bucket.hpp"

#include "wide.hpp"

namespace tierlimit {

BucketState full_bucket(const Limit& limit, std::int64_t now) noexcept { return {limit.full, now}; }

std::int64_t move_balance(std::int64_t balance, const Limit& from, const Limit& to) noexcept {
  if (from.unit == to.unit) return balance < to.full ? balance : to.full;
  const std::uint64_t moved = multiply_divide(static_cast<std::uint64_t>(balance), static_cast<std::uint64_t>(to.unit),
                                              static_cast<std::uint64_t>(from.unit));
  const auto full = static_cast<std::uint64_t>(to.full);
  return static_cast<std::int64_t>(moved < full ? moved : full);
}

std::int64_t accrued(const Limit& limit, const BucketState& state, std::int64_t now) noexcept {
  const std::uint64_t elapsed = static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(state.touched);
  if (elapsed >= limit.fill) return limit.full;
  // Less time than an empty bucket takes to fill: the product is below `full`, and the sum below 2^64.
  const std::uint64_t balance =
      static_cast<std::uint64_t>(state.balance) + elapsed * static_cast<std::uint64_t>(limit.gain);
  const auto full = static_cast<std::uint64_t>(limit.full);
  return static_cast<std::int64_t>(balance < full ? balance : full);
}

Outcome step(const Limit& limit, const BucketState& state, std::int64_t now, std::uint64_t cost) noexcept {
  using Verdict = Outcome::Verdict;
  const std::int64_t balance = accrued(limit, state, now);
  // Settled before any product: a cost up to `whole` times the unit is at most `full`.
  if (cost > static_cast<std::uint64_t>(limit.whole)) return {Verdict::cost_exceeds_capacity, {balance, now}};
  const std::int64_t price = static_cast<std::int64_t>(cost) * limit.unit;
  if (balance >= price) return {Verdict::admitted, {balance - price, now}};
  return {limit.gain == 0 ? Verdict::never_refills : Verdict::exhausted, {balance, now}};
}

std::uint64_t time_until(const Limit& limit, std::int64_t balance, std::int64_t wanted) noexcept {
  if (balance >= wanted) return 0;
  if (limit.gain == 0) return ~std::uint64_t{0};
  return static_cast<std::uint64_t>((wanted - balance - 1) / limit.gain) + 1;
}

}  // namespace tierlimit
