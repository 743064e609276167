// SPDX-License-Identifier: MIT
/// \file
/// What a tier allows.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tierlimit/decimal.hpp"
#include "tierlimit/error.hpp"
#include "tierlimit/list.hpp"

namespace tierlimit {

/// How a limit counts. Each has its pure step in a header of its own.
enum class Algorithm : std::uint8_t {
  token_bucket,
  sliding_window,  ///< At most so many tokens in any window [t, t + W), exactly.
  fixed_window,    ///< So many tokens a window, which starts with the first charge after the last one ended.
};

/// What a raised capacity does to the balance of a token bucket.
enum class OnRaise : std::uint8_t {
  keep,
  fill,
  proportional,  ///< The balance grows as the capacity does.
  add,           ///< What was spent stays spent: the balance grows by as much as the capacity.
};

/// By which rate the time since the last touch accrues where policies changed meanwhile.
enum class Accrual : std::uint8_t {
  at_next,   ///< All of it by the rate in force at the next decision.
  prorated,  ///< Each part of it by the rate that was in force.
};

/// One limit in the integers that decisions are made of.
///
/// A token bucket: one token is `unit` credits and each microsecond adds `gain` credits, where `unit` is the least
/// number that makes both whole. Balances are counted in credits, so accrual never rounds. `unit`, `gain` and `full`
/// are below 2^63.
///
/// A window of either kind: `whole` tokens in `fill` microseconds; `unit` is 1, `gain` 0 and `full` 2^63-1, which is
/// more than there ever is.
struct Limit {
  /// The longest window: some 16 years.
  static constexpr std::uint64_t longest_window = 500'000'000'000'000;
  /// The most tokens of a sliding window, which remembers each.
  static constexpr std::int64_t most_logged = 10'000;
  /// The most tokens of a fixed window: what a double still counts.
  static constexpr std::int64_t most_counted = 9'007'199'254'740'991;

  std::int64_t unit = 1;   ///< Credits in one token.
  std::int64_t gain = 0;   ///< Credits that accrue in one microsecond.
  std::int64_t full = 1;   ///< Credits in a full bucket: capacity times unit.
  std::int64_t whole = 1;  ///< Whole tokens in a full bucket, or of a window: no larger cost can ever be admitted.
  /// Microseconds in which an empty bucket fills, rounded up; 2^64-1 where it never does. The length of a window.
  std::uint64_t fill = ~std::uint64_t{0};
  double capacity = 1;  ///< The capacity as configured, for people to read; takes no part in decisions.

  Algorithm algorithm = Algorithm::token_bucket;
  OnRaise on_raise = OnRaise::keep;
  Accrual accrual = Accrual::at_next;

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

  /// A window of `seconds` in which there are `limit` tokens, counted by one of the algorithms that have windows.
  ///
  /// Fails with `invalid_value` when the limit is not a whole number from 1 to `most_logged` (sliding) or to
  /// `most_counted` (fixed), or when the seconds are not a whole number of microseconds above 0 and at most
  /// `longest_window`. The error's `path` is `limit` or `seconds`; or `algorithm`, when that is the token bucket.
  [[nodiscard]] static Result<Limit> window(Algorithm algorithm, const Decimal& limit, const Decimal& seconds);

  /// Whether going from one to the other changes nothing, what people are told included.
  [[nodiscard]] friend bool operator==(const Limit& a, const Limit& b) noexcept {
    return a.unit == b.unit && a.gain == b.gain && a.full == b.full && a.whole == b.whole && a.fill == b.fill &&
           a.capacity == b.capacity && a.algorithm == b.algorithm && a.on_raise == b.on_raise && a.accrual == b.accrual;
  }
};

/// The name of a limit: 1 to 64 printable ASCII characters.
class LimitName {
 public:
  static constexpr std::size_t longest = 64;

  LimitName() = default;
  /// What is more than the longest is cut off.
  LimitName(std::string_view name) noexcept : size_(name.copy(chars_, longest)) {}
  template <std::convertible_to<std::string_view> Other>
  LimitName(const Other& name) noexcept : LimitName(std::string_view(name)) {}

  [[nodiscard]] std::string_view view() const noexcept { return {chars_, size_}; }
  operator std::string_view() const noexcept { return view(); }
  template <std::convertible_to<std::string_view> Other>
  friend bool operator==(const LimitName& a, const Other& b) noexcept {
    return a.view() == std::string_view(b);
  }

 private:
  char chars_[longest];
  std::size_t size_ = 0;
};

/// A limit by its name.
struct NamedLimit {
  LimitName name;
  Limit limit;
};

/// What the document says about one tier.
struct Policy {
  static constexpr std::size_t most_limits = 8;

  /// 1 to 8, judged together, in the order of the document, each name once. A policy that is one limit calls it `main`.
  List<NamedLimit> limits;

  /// Whether it has any: what a document says of a tier may be invalid.
  [[nodiscard]] bool valid() const noexcept { return !limits.empty(); }
};

}  // namespace tierlimit
