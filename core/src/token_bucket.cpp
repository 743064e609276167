// SPDX-License-Identifier: MIT
#include "tierlimit/token_bucket.hpp"

#include "wide.hpp"

namespace tierlimit {

std::int64_t move_balance(std::int64_t balance, const Limit& from, const Limit& to) noexcept {
  if (from.unit == to.unit) return balance < to.full ? balance : to.full;
  const std::uint64_t moved = multiply_divide(static_cast<std::uint64_t>(balance), static_cast<std::uint64_t>(to.unit),
                                              static_cast<std::uint64_t>(from.unit));
  const auto full = static_cast<std::uint64_t>(to.full);
  return static_cast<std::int64_t>(moved < full ? moved : full);
}

std::uint64_t time_until(const Limit& limit, std::int64_t balance, std::int64_t wanted) noexcept {
  if (balance >= wanted) return 0;
  if (limit.gain == 0) return never;
  return static_cast<std::uint64_t>((wanted - balance - 1) / limit.gain) + 1;
}

}  // namespace tierlimit
