// SPDX-License-Identifier: MIT
#include "fraction.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "catch.hpp"
#include "limits.hpp"
#include "random.hpp"
#include "wide.hpp"

using tierlimit::BinaryFloat;
using tierlimit::closest_below;
using tierlimit::Fraction;
using tierlimit::max_term;
using tierlimit::Natural;
using tierlimit::nearest_double;
using tierlimit::simplest_within;
using tierlimit::SmallFraction;
using tierlimit::Wide;

namespace {

Fraction fraction(std::uint64_t numerator, std::uint64_t denominator) {
  return {Natural(numerator), Natural(denominator)};
}

Fraction ratio(std::string_view dividend, std::string_view divisor = "1") {
  return Fraction::of(decimal(dividend), decimal(divisor));
}

double value_of(const BinaryFloat& number) { return std::ldexp(static_cast<double>(number.mantissa), number.exponent); }

BinaryFloat binary(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return {static_cast<std::uint64_t>(std::ldexp(mantissa, 53)), exponent - 53};
}

SmallFraction lowest(std::uint64_t numerator, std::uint64_t denominator) {
  const std::uint64_t common = std::gcd(numerator, denominator);
  return {numerator / common, denominator / common};
}

int compare(const Natural& a, const Natural& b) {
  const auto order = a.compare(b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

// The reals that round to one double, divided by `divisor`: ends over a common denominator.
class Interval {
 public:
  Interval(const BinaryFloat& value, std::uint32_t divisor) {
    const bool power_of_two = value.mantissa == std::uint64_t{1} << 52;
    low_ = Natural(power_of_two ? value.mantissa * 4 - 1 : value.mantissa * 4 - 2);
    high_ = Natural(value.mantissa * 4 + 2);
    denominator_ = Natural(divisor);
    const int exponent = value.exponent - 2;
    for (Natural* term : {&low_, &high_}) term->shift_left(static_cast<std::size_t>(exponent > 0 ? exponent : 0));
    denominator_.shift_left(static_cast<std::size_t>(exponent < 0 ? -exponent : 0));
  }
  [[nodiscard]] int compare_low(std::uint64_t numerator, std::uint64_t denominator) const {
    return compare_end(low_, numerator, denominator);
  }
  [[nodiscard]] int compare_high(std::uint64_t numerator, std::uint64_t denominator) const {
    return compare_end(high_, numerator, denominator);
  }
  [[nodiscard]] bool contains(std::uint64_t numerator, std::uint64_t denominator) const {
    return compare_low(numerator, denominator) >= 0 && compare_high(numerator, denominator) <= 0;
  }
  // The least whole number that is not below the low end times `factor`.
  [[nodiscard]] std::uint64_t ceiling(std::uint64_t factor) const {
    Natural rest = low_;
    rest.multiply_wide(factor);
    const std::uint64_t whole = rest.divide(denominator_);
    return whole + (rest.zero() ? 0 : 1);
  }

 private:
  [[nodiscard]] int compare_end(const Natural& end, std::uint64_t numerator, std::uint64_t denominator) const {
    Natural left = denominator_;
    left.multiply_wide(numerator);
    Natural right = end;
    right.multiply_wide(denominator);
    return compare(left, right);
  }
  Natural low_;
  Natural high_;
  Natural denominator_;
};

// The two fractions between which the Stern-Brocot tree has this one; every simpler number lies outside of them.
std::pair<SmallFraction, SmallFraction> parents(const SmallFraction& child) {
  SmallFraction low{0, 1};
  SmallFraction high{1, 0};
  for (;;) {
    const SmallFraction middle{low.numerator + high.numerator, low.denominator + high.denominator};
    if (middle == child) return {low, high};
    const bool up = Wide{middle.numerator} * child.denominator < Wide{child.numerator} * middle.denominator;
    // As many steps in this direction as leave the child on the other side.
    SmallFraction& moved = up ? low : high;
    const SmallFraction& fixed = up ? high : low;
    const Wide gap = up ? Wide{child.numerator} * moved.denominator - Wide{moved.numerator} * child.denominator
                        : Wide{moved.numerator} * child.denominator - Wide{child.numerator} * moved.denominator;
    const Wide step = up ? Wide{fixed.numerator} * child.denominator - Wide{child.numerator} * fixed.denominator
                         : Wide{child.numerator} * fixed.denominator - Wide{fixed.numerator} * child.denominator;
    const auto steps = static_cast<std::uint64_t>((gap - 1) / step);
    moved.numerator += steps * fixed.numerator;
    moved.denominator += steps * fixed.denominator;
  }
}

}  // namespace

TEST_CASE("fraction: a ratio of decimals in lowest terms") {
  struct Case {
    const char* dividend;
    const char* divisor;
    SmallFraction expected;
  };
  const Case cases[] = {
      {"0.1", "1", {1, 10}},
      {"10", "13", {10, 13}},
      {"625", "3600", {25, 144}},
      {"1.50", "0.025", {60, 1}},
      {"1e-3", "1e-5", {100, 1}},
      {"1e3", "1e5", {1, 100}},
      {"2.5e-18", "1", {1, 400'000'000'000'000'000}},
      {"9223372036854775807", "1", {max_term, 1}},
      {"1", "9223372036854775807", {1, max_term}},
      {"27670116110564327421", "3", {max_term, 1}},
      {"9223372036854775807e300", "9223372036854775806e300", {max_term, max_term - 1}},
  };
  for (const Case& each : cases) {
    CAPTURE(each.dividend, each.divisor);
    const auto exact = ratio(each.dividend, each.divisor).exact();
    REQUIRE(exact.has_value());
    CHECK(exact->numerator == each.expected.numerator);
    CHECK(exact->denominator == each.expected.denominator);
  }
}

TEST_CASE("fraction: what does not fit 63 bits in lowest terms has no exact form") {
  for (const char* dividend :
       {"9223372036854775808", "9223372036854775807.5", "1e19", "1e400", "18446744073709551617"}) {
    CAPTURE(dividend);
    CHECK_FALSE(ratio(dividend).exact().has_value());
    CHECK_FALSE(ratio("1", dividend).exact().has_value());
  }
  CHECK_FALSE(ratio("3.14159265358979323846").exact().has_value());
  CHECK_FALSE(ratio("1e-19").exact().has_value());
  CHECK(ratio("1e-18").exact().has_value());
  // Both terms are 64 bits long before they are reduced, or after.
  CHECK(ratio("18446744073709551614", "18446744073709551612").exact() == SmallFraction{max_term, max_term - 1});
  CHECK_FALSE(ratio("18446744073709551615", "18446744073709551614").exact().has_value());
}

TEST_CASE("fraction: common factors of any size are found") {
  Random random(1);
  for (int i = 0; i < 5'000; ++i) {
    const SmallFraction expected = lowest(1 + random.bits(62), 1 + random.bits(62));
    Fraction value = fraction(expected.numerator, expected.denominator);
    for (auto factors = random.below(5); factors > 0; --factors) {
      const std::uint64_t factor = 1 + random.bits(63);
      value.numerator.multiply_wide(factor);
      value.denominator.multiply_wide(factor);
    }
    CAPTURE(expected.numerator, expected.denominator);
    REQUIRE(value.exact() == expected);
  }
}

TEST_CASE("fraction: the nearest double of a decimal is that of strtod") {
  Random random(2);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = std::to_string(1 + random.bits());
    if (random.chance(2)) text += std::to_string(random.next());
    if (random.chance(2)) text.insert(1 + random.below(text.size()), 1, '.');
    if (text.back() == '.') text.pop_back();
    text += 'e' + std::to_string(random.between(-300, 250));
    const BinaryFloat nearest = nearest_double(ratio(text));
    CAPTURE(text);
    REQUIRE(nearest.mantissa >> 52 == 1);
    REQUIRE(value_of(nearest) == std::strtod(text.c_str(), nullptr));
  }
}

TEST_CASE("fraction: the nearest double of a quotient is that of a division") {
  Random random(3);
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t numerator = 1 + random.bits(53) % ((std::uint64_t{1} << 53) - 1);
    const std::uint64_t denominator = 1 + random.bits(53) % ((std::uint64_t{1} << 53) - 1);
    const double nearest = value_of(nearest_double(fraction(numerator, denominator)));
    const double quotient = static_cast<double>(numerator) / static_cast<double>(denominator);
    if (nearest != quotient) {
      CAPTURE(numerator, denominator);
      REQUIRE(nearest == quotient);
    }
  }
}

TEST_CASE("fraction: a number halfway between two doubles goes to the even one") {
  Random random(4);
  for (int i = 0; i < 5'000; ++i) {
    const std::uint64_t mantissa = i == 0 ? (std::uint64_t{1} << 53) - 1 : std::uint64_t{1} << 52 | random.bits(52);
    const auto bits = random.below(200);
    const auto at = [&](std::uint64_t quarters_of_ulp) {
      Fraction value{Natural(mantissa * 4 + quarters_of_ulp), Natural(4)};
      (random.chance(2) ? value.numerator : value.denominator).shift_left(bits);
      // Away from the half by so little that only the rest of a long division tells.
      return value;
    };
    const auto rounded = [&](const Fraction& value) {
      const BinaryFloat nearest = nearest_double(value);
      return nearest.mantissa == std::uint64_t{1} << 52 && nearest.mantissa != mantissa ? std::uint64_t{1} << 53
                                                                                        : nearest.mantissa;
    };
    CAPTURE(mantissa);
    REQUIRE(rounded(at(1)) == mantissa);
    REQUIRE(rounded(at(2)) == mantissa + (mantissa & 1));
    REQUIRE(rounded(at(3)) == mantissa + 1);

    Fraction more{Natural(mantissa * 2 + 1), Natural(2)};
    Fraction less = more;
    for (Fraction* value : {&more, &less}) {
      value->numerator.shift_left(100);
      value->denominator.shift_left(100);
    }
    more.numerator.multiply(1, 1);
    less.numerator.subtract(Natural(1));
    REQUIRE(rounded(more) == mantissa + 1);
    REQUIRE(rounded(less) == mantissa);
  }
}

TEST_CASE("fraction: the simplest number that rounds to a double") {
  struct Case {
    double value;
    std::uint32_t divisor;
    SmallFraction expected;
  };
  const Case cases[] = {
      {1, 1, {1, 1}},
      {0.1, 1, {1, 10}},
      {0.3333333333333333, 1, {1, 3}},
      {0.3333333333333333, 1'000'000, {1, 3'000'000}},
      {1e18, 1, {999'999'999'999'999'936, 1}},  // the low end of the interval itself
      {9007199254740992.0, 1, {9007199254740992, 1}},
      {9007199254740994.0, 1, {9007199254740993, 1}},  // an end that rounds to its other neighbour counts all the same
      {18014398509481984.0, 1, {18014398509481983, 1}},  // below a power of two the neighbour is nearer
      {2e9, 1'000'000, {2000, 1}},
      {1e-11, 1'000'000, {1, 99'999'999'999'999'998}},  // the least number of the interval's, though not the roundest
  };
  for (const Case& each : cases) {
    CAPTURE(each.value, each.divisor);
    const auto simplest = simplest_within(binary(each.value), each.divisor);
    REQUIRE(simplest.has_value());
    CHECK(simplest->numerator == each.expected.numerator);
    CHECK(simplest->denominator == each.expected.denominator);
  }
  CHECK_FALSE(simplest_within(binary(1e19), 1).has_value());
  CHECK_FALSE(simplest_within(binary(1e-19), 1).has_value());
  CHECK_FALSE(simplest_within(binary(1e-13), 1'000'000).has_value());
  CHECK_FALSE(simplest_within(binary(1e300), 1'000'000).has_value());
}

TEST_CASE("fraction: no simpler number rounds to the same double: all denominators tried") {
  Random random(5);
  for (int i = 0; i < 3'000; ++i) {
    const auto numerator = 1 + random.bits(24);
    const auto denominator = 1 + random.below(300);
    const std::uint32_t divisor = random.chance(2) ? 1 : 7;
    const BinaryFloat value = nearest_double(fraction(numerator * divisor, denominator));
    const Interval interval(value, divisor);
    SmallFraction expected;
    for (std::uint64_t q = 1; q <= denominator; ++q) {
      const std::uint64_t p = interval.ceiling(q);
      if (interval.compare_high(p, q) > 0) continue;
      expected = {p, q};
      break;
    }
    CAPTURE(numerator, denominator, divisor);
    REQUIRE(simplest_within(value, divisor) == expected);
  }
}

TEST_CASE("fraction: no simpler number rounds to the same double: its parents lie outside") {
  Random random(6);
  int found = 0;
  for (int i = 0; i < 20'000; ++i) {
    const BinaryFloat value{std::uint64_t{1} << 52 | (random.chance(8) ? 0 : random.bits(52)),
                            static_cast<int>(random.between(-95, 0))};
    const std::uint32_t divisor = random.chance(2) ? 1 : 1'000'000;
    const auto simplest = simplest_within(value, divisor);
    if (!simplest) continue;
    ++found;
    const Interval interval(value, divisor);
    const auto [low, high] = parents(*simplest);
    CAPTURE(value.mantissa, value.exponent, divisor);
    REQUIRE(interval.contains(simplest->numerator, simplest->denominator));
    REQUIRE(interval.compare_low(low.numerator, low.denominator) < 0);
    REQUIRE(interval.compare_high(high.numerator, high.denominator) > 0);
  }
  CHECK(found > 10'000);
}

namespace {

// What `closest_below` is defined to be, by looking at all denominators. Terms are small enough for 128 bits.
std::optional<SmallFraction> closest_below_by_search(std::uint64_t numerator, std::uint64_t denominator,
                                                     std::uint64_t max_denominator) {
  SmallFraction best{0, 1};
  for (std::uint64_t q = 1; q <= max_denominator; ++q) {
    const Wide p = Wide{numerator} * q / denominator;
    if (p > max_term) break;
    if (p * best.denominator > Wide{best.numerator} * q) best = {static_cast<std::uint64_t>(p), q};
  }
  Natural below(numerator);
  below.multiply_wide(best.denominator);
  Natural taken(best.numerator);
  taken.multiply_wide(denominator);
  below.subtract(taken);
  below.shift_left(32);
  Natural bound(numerator);
  bound.multiply_wide(best.denominator);
  if (best.numerator == 0 || compare(below, bound) > 0) return std::nullopt;
  return best;
}

}  // namespace

TEST_CASE("fraction: the closest one from below: all denominators tried") {
  Random random(7);
  int accepted = 0;
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    // A fraction that fits and a hair more or less.
    const std::uint64_t p = 1 + random.bits(20);
    const std::uint64_t q = 1 + random.below(200);
    const std::uint64_t scale = std::uint64_t{1} << random.between(8, 36);
    const std::uint64_t numerator = p * scale + random.below(3) - (random.chance(3) ? 1 : 0);
    const std::uint64_t denominator = q * scale;
    const std::uint64_t max_denominator = 1 + random.below(300);
    const auto expected = closest_below_by_search(numerator, denominator, max_denominator);
    ++(expected ? accepted : refused);
    CAPTURE(numerator, denominator, max_denominator);
    REQUIRE(closest_below(fraction(numerator, denominator), max_denominator) == expected);
  }
  CHECK(accepted > 1'000);
  CHECK(refused > 1'000);
}

TEST_CASE("fraction: the closest one from below may be 2^-32 too small and no more") {
  // With a denominator of 1 there is only the whole part.
  for (const std::uint64_t whole : {std::uint64_t{1}, std::uint64_t{1000}, (std::uint64_t{1} << 31) + 1}) {
    CAPTURE(whole);
    Fraction value = fraction(whole, (std::uint64_t{1} << 32) - 1);
    value.numerator.shift_left(32);
    CHECK(closest_below(value, 1) == SmallFraction{whole, 1});
    value.numerator.multiply_wide(max_term);
    value.numerator.multiply(1, 1);
    value.denominator.multiply_wide(max_term);
    CHECK_FALSE(closest_below(value, 1).has_value());
  }
  CHECK_FALSE(closest_below(fraction(1, 1000), 999).has_value());  // nothing but zero is below
  CHECK(closest_below(fraction(1, 1000), 1000) == SmallFraction{1, 1000});
}

TEST_CASE("fraction: the closest one from below has no successor in between") {
  Random random(8);
  int found = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t denominator = (std::uint64_t{1} << 62) + random.bits(62);
    const std::uint64_t numerator = denominator >> random.below(10) | random.bits(50);
    const std::uint64_t max_denominator = (std::uint64_t{1} << 36) + random.bits(61);
    const auto closest = closest_below(fraction(numerator, denominator), max_denominator);
    if (!closest) continue;
    ++found;
    CAPTURE(numerator, denominator, max_denominator);
    const auto [p, q] = *closest;
    REQUIRE(q <= max_denominator);
    REQUIRE(Wide{p} * denominator <= Wide{numerator} * q);
    if (Wide{p} * denominator == Wide{numerator} * q) continue;
    // Its right-hand parent, moved up to it as often as the denominator allows, is the next one that fits.
    const SmallFraction high = q == 1 ? SmallFraction{1, 0} : parents(*closest).second;
    const std::uint64_t steps = (max_denominator - high.denominator) / q;
    const Wide next_p = Wide{steps} * p + high.numerator;
    const Wide next_q = Wide{steps} * q + high.denominator;
    REQUIRE((next_p > max_term || next_p * denominator > Wide{numerator} * next_q));
  }
  CHECK(found > 10'000);
}

TEST_CASE("fraction: the closest one from below has a numerator that fits") {
  // About 2^40 and a third, so that the denominator stays below 2^23 for the numerator's sake.
  const std::uint64_t numerator = (std::uint64_t{3} << 40) * 1'000'003 + 1'000'001;
  const std::uint64_t denominator = 3 * std::uint64_t{1'000'003};
  const auto expected = closest_below_by_search(numerator, denominator, std::uint64_t{1} << 24);
  REQUIRE(expected.has_value());
  CHECK(closest_below(fraction(numerator, denominator), max_term) == expected);
  CHECK(closest_below(ratio("9223372036854775807.5"), max_term) == SmallFraction{max_term, 1});
  CHECK_FALSE(closest_below(ratio("1e19"), max_term).has_value());
}
