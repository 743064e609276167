// SPDX-License-Identifier: MIT
#include "tierlimit/token_bucket.hpp"

#include "wide.hpp"

namespace tierlimit {

std::int64_t move_balance(std::int64_t balance, const Limit& from, const Limit& to, OnRaise on_raise) noexcept {
  const auto held = static_cast<std::uint64_t>(balance);
  const auto old_unit = static_cast<std::uint64_t>(from.unit);
  const auto new_unit = static_cast<std::uint64_t>(to.unit);
  const auto old_full = static_cast<std::uint64_t>(from.full);
  const auto new_full = static_cast<std::uint64_t>(to.full);
  std::uint64_t moved = held;
  if (on_raise != OnRaise::keep && Wide{new_full} * old_unit > Wide{old_full} * new_unit) {
    switch (on_raise) {
      case OnRaise::proportional: moved = multiply_divide(held, new_full, old_full); break;
      case OnRaise::add: {
        // What was spent is rounded up. (It is exact if it comes back the same.)
        const std::uint64_t spent = multiply_divide(old_full - held, new_unit, old_unit);
        const bool exact = multiply_divide(spent, old_unit, new_unit) == old_full - held;
        moved = new_full - spent - static_cast<std::uint64_t>(!exact);
        break;
      }
      default: moved = new_full;
    }
  } else if (old_unit != new_unit) {
    moved = multiply_divide(held, new_unit, old_unit);
  }
  return static_cast<std::int64_t>(moved < new_full ? moved : new_full);
}

std::uint64_t time_until(const Limit& limit, std::int64_t balance, std::int64_t wanted) noexcept {
  if (balance >= wanted) return 0;
  if (limit.gain == 0) return never;
  return static_cast<std::uint64_t>((wanted - balance - 1) / limit.gain) + 1;
}

}  // namespace tierlimit
