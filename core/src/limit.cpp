// SPDX-License-Identifier: MIT
#include "limit.hpp"

#include <numeric>
#include <optional>

#include "fraction.hpp"
#include "wide.hpp"

namespace tierlimit {
namespace {

constexpr std::uint32_t micros_per_second = 1'000'000;
constexpr int micros_exponent = 6;

// Sizes beyond which nothing can fit; they also bound the work on the exact fractions.
constexpr std::int64_t largest_magnitude = 30;
constexpr std::int64_t smallest_magnitude = -30;

std::int64_t magnitude(const Decimal& number) noexcept {
  return static_cast<std::int64_t>(number.digits().size()) + number.exponent();
}

double to_double(const BinaryFloat& value) noexcept {
  const auto mantissa = static_cast<double>(value.mantissa);
  return value.exponent >= 0 ? mantissa * static_cast<double>(std::uint64_t{1} << value.exponent)
                             : mantissa / static_cast<double>(std::uint64_t{1} << -value.exponent);
}

// False where the product does not fit.
bool multiply(std::uint64_t a, std::uint64_t b, std::int64_t& product) noexcept {
  const Wide wide = Wide{a} * b;
  product = static_cast<std::int64_t>(wide);
  return wide <= max_term;
}

// `number` times ten to the `exponent`; 0 where that is not a whole number above 0 and at most `most`, below 10^18.
std::uint64_t whole(const Decimal& number, int exponent, std::uint64_t most) noexcept {
  std::int64_t zeros = number.exponent() + exponent;
  if (number.negative() || zeros < 0 || magnitude(number) + exponent > 18) return 0;
  std::uint64_t value = 0;
  for (const char digit : number.digits()) value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  for (; zeros > 0; --zeros) value *= 10;
  return value <= most ? value : 0;
}

// `rate` is tokens per microsecond. The least unit that makes capacity and rate whole, if everything fits.
std::optional<Limit> fit(const SmallFraction& capacity, const SmallFraction& rate) noexcept {
  const std::uint64_t common = std::gcd(capacity.denominator, rate.denominator);
  Limit limit;
  if (!multiply(capacity.denominator, rate.denominator / common, limit.unit) ||
      !multiply(rate.numerator, capacity.denominator / common, limit.gain) ||
      !multiply(capacity.numerator, rate.denominator / common, limit.full)) {
    return std::nullopt;
  }
  limit.whole = limit.full / limit.unit;
  if (limit.gain > 0) limit.fill = static_cast<std::uint64_t>((limit.full - 1) / limit.gain) + 1;
  return limit;
}

// How the rate is told: exactly, and as the double that its text or its quotient rounds to. Zero has no such double.
struct RateForms {
  bool zero = true;
  Fraction per_micro;
  std::optional<SmallFraction> exact;
  BinaryFloat per_second;

  RateForms(const Decimal& tokens, const Decimal& seconds) : zero(tokens.zero()) {
    if (zero) {
      exact = SmallFraction{};
      return;
    }
    per_micro = Fraction::of(tokens, seconds);
    per_second = nearest_double(per_micro);
    per_micro.denominator.multiply(micros_per_second);
    exact = per_micro.exact();
  }
};

// The rate as near as it gets: exact; the simplest that rounds to the same double; the closest from below.
std::optional<Limit> fit_nearest(const SmallFraction& capacity, const RateForms& rate) {
  std::optional<Limit> limit;
  if (rate.exact) limit = fit(capacity, *rate.exact);
  if (limit || rate.zero) return limit;

  const std::optional<SmallFraction> simplest = simplest_within(rate.per_second, micros_per_second);
  if (simplest) limit = fit(capacity, *simplest);
  if (!limit) {
    // Whatever fits has a unit that is a multiple of the capacity's denominator, and the largest such unit is bounded
    // by the larger of the capacity's terms, its numerator. So look for the closest fraction to rate * denominator.
    Fraction scaled = rate.per_micro;
    scaled.numerator.multiply_wide(capacity.denominator);
    const std::optional<SmallFraction> closest = closest_below(scaled, max_term / capacity.numerator);
    if (!closest) return std::nullopt;
    const std::uint64_t common = std::gcd(closest->numerator, capacity.denominator);
    limit = fit(capacity,
                SmallFraction{closest->numerator / common, closest->denominator * (capacity.denominator / common)});
  }
  if (limit) limit->rounded = Limit::Rounded::rate;
  return limit;
}

}  // namespace

LimitFault make_limit(const Decimal& capacity, const Decimal& tokens, const Decimal& seconds, Limit& limit) {
  if (capacity.negative() || magnitude(capacity) < 1 || capacity.zero()) return LimitFault::capacity;
  if (tokens.negative()) return LimitFault::tokens;
  if (seconds.negative() || seconds.zero()) return LimitFault::seconds;
  const std::int64_t rate_magnitude = tokens.zero() ? 0 : magnitude(tokens) - magnitude(seconds);
  if (magnitude(capacity) > largest_magnitude || rate_magnitude > largest_magnitude ||
      rate_magnitude < smallest_magnitude) {
    return LimitFault::together;
  }

  const Fraction exact_capacity = Fraction::of(capacity, *Decimal::parse("1"));
  const BinaryFloat configured = nearest_double(exact_capacity);
  const RateForms rate{tokens, seconds};

  std::optional<Limit> made;
  const std::optional<SmallFraction> exact = exact_capacity.exact();
  if (exact) made = fit_nearest(*exact, rate);
  if (!made) {
    const std::optional<SmallFraction> simplest = simplest_within(configured, 1);
    if (simplest && simplest != exact && simplest->numerator >= simplest->denominator) {
      made = fit_nearest(*simplest, rate);
    }
    if (!made) return LimitFault::together;
    made->rounded = made->rounded == Limit::Rounded::rate ? Limit::Rounded::both : Limit::Rounded::capacity;
  }
  made->capacity = to_double(configured);
  limit = *made;
  return LimitFault::none;
}

LimitFault make_window(Algorithm algorithm, const Decimal& limit, const Decimal& seconds, Limit& made) {
  const bool logged = algorithm == Algorithm::sliding_window;
  const std::uint64_t tokens =
      whole(limit, 0, static_cast<std::uint64_t>(logged ? Limit::most_logged : Limit::most_counted));
  if (tokens == 0) return LimitFault::capacity;
  const std::uint64_t micros = whole(seconds, micros_exponent, Limit::longest_window);
  if (micros == 0) return LimitFault::seconds;
  made = Limit{};
  made.full = static_cast<std::int64_t>(max_term);
  made.whole = static_cast<std::int64_t>(tokens);
  made.fill = micros;
  made.capacity = static_cast<double>(tokens);
  made.algorithm = algorithm;
  return LimitFault::none;
}

Result<Limit> Limit::make(const Decimal& capacity, const Decimal& tokens, const Decimal& seconds) {
  Error error;
  error.code = ErrorCode::invalid_value;
  Limit limit;
  switch (make_limit(capacity, tokens, seconds, limit)) {
    case LimitFault::none: return limit;
    case LimitFault::capacity:
      error.path = "capacity";
      error.message = "a capacity must be at least 1 token";
      break;
    case LimitFault::tokens:
      error.path = "tokens";
      error.message = "a refill must be at least 0 tokens";
      break;
    case LimitFault::seconds:
      error.path = "seconds";
      error.message = "a refill must take more than 0 seconds";
      break;
    case LimitFault::together:
      error.code = ErrorCode::not_representable;
      error.message = "the capacity and the refill rate do not fit exact 63-bit arithmetic together";
      break;
  }
  return error;
}

Result<Limit> Limit::window(Algorithm algorithm, const Decimal& limit, const Decimal& seconds) {
  Error error;
  error.code = ErrorCode::invalid_value;
  if (algorithm == Algorithm::token_bucket) {
    error.path = "algorithm";
    error.message = "a window must be a sliding or a fixed one";
    return error;
  }
  Limit made;
  switch (make_window(algorithm, limit, seconds, made)) {
    case LimitFault::capacity:
      error.path = "limit";
      error.message = algorithm == Algorithm::sliding_window
                          ? "the limit of a sliding window must be a whole number from 1 to 10000"
                          : "the limit of a fixed window must be a whole number from 1 to 9007199254740991";
      return error;
    case LimitFault::seconds:
      error.path = "seconds";
      error.message = "a window must be whole microseconds, more than 0 and at most 500000000 seconds";
      return error;
    default: return made;
  }
}

}  // namespace tierlimit
