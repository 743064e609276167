// SPDX-License-Identifier: MIT
// Fractions of natural numbers, and the fractions near them that fit 63 bits.
#pragma once

#include <cstdint>
#include <optional>

#include "natural.hpp"
#include "tierlimit/decimal.hpp"

namespace tierlimit {

/// The largest term of a fraction that fits.
inline constexpr std::uint64_t max_term = (std::uint64_t{1} << 63) - 1;

/// A fraction in lowest terms, both at most `max_term`.
struct SmallFraction {
  std::uint64_t numerator = 0;
  std::uint64_t denominator = 1;
  friend bool operator==(const SmallFraction&, const SmallFraction&) = default;
};

/// A fraction of any size, above zero; not necessarily in lowest terms.
struct Fraction {
  Natural numerator;
  Natural denominator;

  /// `dividend / divisor`, neither of them zero nor further than about ten to the 1000 from the other.
  static Fraction of(const Decimal& dividend, const Decimal& divisor);

  /// The same in lowest terms, if it fits.
  [[nodiscard]] std::optional<SmallFraction> exact() const;
};

/// `mantissa` (2^52 up to 2^53 - 1) times two to the `exponent`: a normal double.
struct BinaryFloat {
  std::uint64_t mantissa = 0;
  int exponent = 0;
};

/// The double nearest to `value`, ties to even, as if doubles had no bounds on their exponent.
[[nodiscard]] BinaryFloat nearest_double(const Fraction& value);

/// The simplest fraction (least denominator, then least numerator) among all numbers that round to `value`, both ends
/// of that interval included, each divided by `divisor`; nullopt if it does not fit.
[[nodiscard]] std::optional<SmallFraction> simplest_within(const BinaryFloat& value, std::uint32_t divisor);

/// The largest fraction not above `value` whose denominator is at most `max_denominator` (at least 1) and whose
/// numerator is at most `max_term`; nullopt if it lies more than 2^-32 of the value below it.
[[nodiscard]] std::optional<SmallFraction> closest_below(const Fraction& value, std::uint64_t max_denominator);

}  // namespace tierlimit
