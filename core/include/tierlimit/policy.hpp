// SPDX-License-Identifier: MIT
/// \file
/// What a tier allows.
#pragma once

#include <cstdint>

#include "tierlimit/decimal.hpp"
#include "tierlimit/error.hpp"

namespace tierlimit {

/// One token-bucket limit in the integers that decisions are made of.
///
/// One token is `unit` credits and each microsecond adds `gain` credits, where `unit` is the least number that makes
/// both whole. Balances are counted in credits, so accrual never rounds. `unit`, `gain` and `full` are below 2^63.
struct Limit {
  std::int64_t unit = 1;   ///< Credits in one token.
  std::int64_t gain = 0;   ///< Credits that accrue in one microsecond.
  std::int64_t full = 1;   ///< Credits in a full bucket: capacity times unit.
  std::int64_t whole = 1;  ///< Whole tokens in a full bucket: no larger cost can ever be admitted.
  /// Microseconds in which an empty bucket fills, rounded up; 2^64-1 where it never does.
  std::uint64_t fill = ~std::uint64_t{0};
  double capacity = 1;  ///< The capacity as configured, for people to read; takes no part in decisions.

  /// What had to be rounded for the numbers to fit. `make` tells; a decision does not care.
  enum class Rounded : std::uint8_t { nothing, rate, capacity, both };
  Rounded rounded = Rounded::nothing;

  /// A bucket of `capacity` tokens that refills by `tokens` every `seconds`.
  ///
  /// The numbers are exact where they fit. Where they do not, the rate is the simplest fraction that rounds to the same
  /// double of tokens per second; failing that, the closest one from below that fits with this capacity, if it is at
  /// most 2^-32 too slow (a second in 136 years). Only where neither fits is the capacity replaced by the simplest
  /// fraction that rounds to the same double.
  ///
  /// Fails with `invalid_value` when capacity is below 1, tokens are below 0 or seconds are not above 0, and with
  /// `not_representable` when nothing fits. The error's `path` is `capacity`, `tokens` or `seconds`, and empty when it
  /// is the numbers together.
  [[nodiscard]] static Result<Limit> make(const Decimal& capacity, const Decimal& tokens, const Decimal& seconds);

  /// Whether going from one to the other changes nothing, what people are told included.
  [[nodiscard]] friend bool operator==(const Limit& a, const Limit& b) noexcept {
    return a.unit == b.unit && a.gain == b.gain && a.full == b.full && a.capacity == b.capacity;
  }
};

/// How a limit counts. The other algorithms of the design each get a step of their own in a header of their own.
enum class Algorithm : std::uint8_t { token_bucket };

/// What the document says about one tier: today one limit, which is named `main`.
struct Policy {
  Algorithm algorithm = Algorithm::token_bucket;
  Limit limit;
};

}  // namespace tierlimit
