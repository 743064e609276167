// SPDX-License-Identifier: MIT
#include "fraction.hpp"

#include <algorithm>
#include <utility>

#include "wide.hpp"

namespace tierlimit {

Fraction Fraction::of(const Decimal& dividend, const Decimal& divisor) {
  Fraction result{Natural::from_digits(dividend.digits()), Natural::from_digits(divisor.digits())};
  const std::int64_t exponent = dividend.exponent() - divisor.exponent();
  (exponent >= 0 ? result.numerator : result.denominator)
      .multiply_power_of_ten(static_cast<std::uint64_t>(exponent >= 0 ? exponent : -exponent));
  return result;
}

namespace {

// The convergents of a continued fraction.
class Convergents {
 public:
  // Takes the next whole part; false where the convergent does not fit.
  [[nodiscard]] bool next(std::uint64_t whole) noexcept {
    return advance(before_.numerator, last_.numerator, whole) && advance(before_.denominator, last_.denominator, whole);
  }
  [[nodiscard]] const SmallFraction& last() const noexcept { return last_; }

 private:
  static bool advance(std::uint64_t& before, std::uint64_t& last, std::uint64_t whole) noexcept {
    const Wide next = Wide{whole} * last + before;
    before = std::exchange(last, static_cast<std::uint64_t>(next));
    return next <= max_term;
  }

  SmallFraction before_{0, 1};
  SmallFraction last_{1, 0};
};

}  // namespace

std::optional<SmallFraction> Fraction::exact() const {
  // Euclid, keeping the convergents: the last one is the fraction itself in lowest terms.
  Natural a = numerator;
  Natural b = denominator;
  Convergents convergents;
  while (!b.zero()) {
    if (!convergents.next(a.divide(b))) return std::nullopt;
    std::swap(a, b);
  }
  return convergents.last();
}

BinaryFloat nearest_double(const Fraction& value) {
  // Scale so that the quotient has 54 or 55 bits: 53 to keep and at least one to round by.
  Natural dividend = value.numerator;
  Natural divisor = value.denominator;
  const auto gap = static_cast<int>(dividend.bit_length()) - static_cast<int>(divisor.bit_length());
  const int shift = 54 - gap;
  if (shift >= 0) {
    dividend.shift_left(static_cast<std::size_t>(shift));
  } else {
    divisor.shift_left(static_cast<std::size_t>(-shift));
  }
  std::uint64_t quotient = dividend.divide(divisor);
  const int extra = quotient >> 54 != 0 ? 2 : 1;
  const bool sticky = !dividend.zero();

  BinaryFloat result{quotient >> extra, extra - shift};
  const std::uint64_t rest = quotient & ((std::uint64_t{1} << extra) - 1);
  const std::uint64_t half = std::uint64_t{1} << (extra - 1);
  if (rest > half || (rest == half && (sticky || (result.mantissa & 1) != 0))) ++result.mantissa;
  if (result.mantissa >> 53 != 0) {
    result.mantissa >>= 1;
    ++result.exponent;
  }
  return result;
}

namespace {

// `mantissa` times two to the `exponent`, divided by `divisor`.
Fraction scaled(std::uint64_t mantissa, int exponent, std::uint32_t divisor) {
  Fraction result{Natural{mantissa}, Natural{divisor}};
  (exponent >= 0 ? result.numerator : result.denominator)
      .shift_left(static_cast<std::size_t>(exponent >= 0 ? exponent : -exponent));
  return result;
}

}  // namespace

std::optional<SmallFraction> simplest_within(const BinaryFloat& value, std::uint32_t divisor) {
  // The midpoints to the neighbouring doubles. Below a power of two the neighbour is only half as far away.
  const bool power_of_two = value.mantissa == std::uint64_t{1} << 52;
  Fraction low = power_of_two ? scaled(value.mantissa * 4 - 1, value.exponent - 2, divisor)
                              : scaled(value.mantissa * 2 - 1, value.exponent - 1, divisor);
  Fraction high = scaled(value.mantissa * 2 + 1, value.exponent - 1, divisor);

  // The continued fraction of the interval: take the whole parts that both ends share, stop at the first whole number
  // that lies inside.
  Convergents convergents;
  for (;;) {
    std::uint64_t whole = low.numerator.divide(low.denominator);
    const std::uint64_t whole_high = high.numerator.divide(high.denominator);
    const bool inside = low.numerator.zero() || whole < whole_high;
    if (inside && !low.numerator.zero()) ++whole;
    if (!convergents.next(whole)) return std::nullopt;
    if (inside) return convergents.last();
    // Both fractional parts are above zero, the high end's because it lies above the low one. Turned over, they swap.
    std::swap(low.numerator, low.denominator);
    std::swap(high.numerator, high.denominator);
    std::swap(low, high);
  }
}

std::optional<SmallFraction> closest_below(const Fraction& value, std::uint64_t max_denominator) {
  // A walk down the Stern-Brocot tree with `low` not above the value and `high` above it, taking all steps in one
  // direction at once. `below` and `above` are the two distances, scaled by the denominators: Euclid's remainders.
  SmallFraction low{0, 1};
  SmallFraction high{1, 0};
  Natural below = value.numerator;
  Natural above = value.denominator;
  const auto steps_within_bounds = [&](const SmallFraction& from, const SmallFraction& by) {
    const std::uint64_t by_numerator = by.numerator == 0 ? max_term : (max_term - from.numerator) / by.numerator;
    const std::uint64_t by_denominator =
        by.denominator == 0 ? max_term : (max_denominator - from.denominator) / by.denominator;
    return std::min(by_numerator, by_denominator);
  };
  for (;;) {
    // Move the low end up as far as it stays at or below the value.
    const std::uint64_t room = steps_within_bounds(low, high);
    Natural rest = below;
    const std::uint64_t up = rest.divide(above);
    if (up <= room) {
      below = rest;
    } else {
      Natural taken = above;
      taken.multiply_wide(room);
      below.subtract(taken);
    }
    const std::uint64_t steps = std::min(up, room);
    low.numerator += steps * high.numerator;
    low.denominator += steps * high.denominator;
    if (up > room || below.zero()) break;

    // Move the high end down as far as it stays above the value.
    rest = above;
    std::uint64_t down = rest.divide(below);
    if (rest.zero()) {
      --down;
      rest = below;
    }
    if (down > steps_within_bounds(high, low)) break;
    above = rest;
    high.numerator += down * low.numerator;
    high.denominator += down * low.denominator;
  }

  // (value - low) / value, with both sides times the denominators: below * 2^32 <= numerator * low.denominator.
  below.shift_left(32);
  Natural bound = value.numerator;
  bound.multiply_wide(low.denominator);
  if (low.numerator == 0 || below.compare(bound) > 0) return std::nullopt;
  return low;
}

}  // namespace tierlimit
