// SPDX-License-Identifier: MIT
#include "natural.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "catch.hpp"
#include "random.hpp"
#include "wide.hpp"

using tierlimit::Natural;
using tierlimit::Wide;

namespace {

std::string digits(Wide value) {
  std::string text;
  for (; value != 0; value /= 10) text += static_cast<char>('0' + static_cast<int>(value % 10));
  std::reverse(text.begin(), text.end());
  return text;
}

Natural natural(Wide value) { return Natural::from_digits(digits(value)); }

bool equal(const Natural& a, const Natural& b) { return a.compare(b) == 0; }

unsigned bit_length(Wide value) {
  unsigned bits = 0;
  for (; value != 0; value >>= 1) ++bits;
  return bits;
}

// Up to 128 bits, with runs of zeros and ones among them so that carries run far.
Wide random_wide(Random& random, unsigned most_bits) {
  Wide value = Wide{random.next()} << 64 | random.next();
  if (random.chance(3)) value |= ~Wide{0} >> random.below(128);
  if (random.chance(3)) value &= ~(~Wide{0} >> random.below(128));
  return value >> (128 - most_bits) >> random.below(most_bits);
}

}  // namespace

TEST_CASE("natural: zero") {
  CHECK(Natural().zero());
  CHECK(Natural(0).zero());
  CHECK(Natural::from_digits("").zero());
  CHECK(Natural::from_digits("000").zero());
  CHECK(Natural().bit_length() == 0);
  Natural number(5);
  number.multiply(0);
  CHECK(number.zero());
  number = Natural(5);
  number.multiply_wide(0);
  CHECK(number.zero());
  number.shift_left(100);
  CHECK(number.zero());
  CHECK(number.divide(Natural(7)) == 0);
  CHECK(number.zero());
}

TEST_CASE("natural: agrees with 128-bit arithmetic") {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const Wide x = random_wide(random, 128);
    const Wide y = random.chance(8) ? x : random_wide(random, 128);
    CAPTURE(digits(x), digits(y));
    const Natural a = natural(x);
    const Natural b = natural(y);

    REQUIRE(a.bit_length() == bit_length(x));
    REQUIRE(a.zero() == (x == 0));
    REQUIRE((a.compare(b) < 0) == (x < y));
    REQUIRE((a.compare(b) > 0) == (x > y));
    if (x >> 64 == 0) REQUIRE(equal(Natural(static_cast<std::uint64_t>(x)), a));

    Natural result = natural(std::max(x, y));
    result.subtract(natural(std::min(x, y)));
    REQUIRE(equal(result, natural(std::max(x, y) - std::min(x, y))));

    if (y != 0) {
      result = a;
      const std::uint64_t quotient = result.divide(b);
      REQUIRE(equal(result, natural(x % y)));
      constexpr auto bound = std::uint64_t{1} << 63;
      if (x / y < bound) {
        REQUIRE(quotient == static_cast<std::uint64_t>(x / y));
      } else {
        REQUIRE(quotient >= bound);
      }
    }
  }
}

TEST_CASE("natural: products agree with 128-bit arithmetic") {
  Random random(2);
  for (int i = 0; i < 20'000; ++i) {
    const auto factor = static_cast<std::uint32_t>(random.bits(32));
    const auto carry = static_cast<std::uint32_t>(random.bits(32));
    const Wide x = random_wide(random, 95);
    const auto wide_factor = random.bits(64);
    const Wide y = random_wide(random, 64);
    const auto shift = random.below(33);
    CAPTURE(digits(x), factor, carry, digits(y), wide_factor, shift);

    Natural result = natural(x);
    result.multiply(factor, carry);
    REQUIRE(equal(result, natural(x * factor + carry)));
    result = natural(y);
    result.multiply_wide(wide_factor);
    REQUIRE(equal(result, natural(y * wide_factor)));
    result = natural(x);
    result.shift_left(shift);
    REQUIRE(equal(result, natural(x << shift)));
  }
}

TEST_CASE("natural: powers of ten append zeros") {
  for (const unsigned exponent : {0U, 1U, 8U, 9U, 10U, 17U, 18U, 19U, 100U, 831U}) {
    Natural number(123456789);
    number.multiply_power_of_ten(exponent);
    CHECK(equal(number, Natural::from_digits(std::string("123456789").append(exponent, '0'))));
  }
}

TEST_CASE("natural: long division gives back what was multiplied") {
  Random random(3);
  for (int i = 0; i < 2'000; ++i) {
    std::string text;
    for (std::uint64_t length = 10 + random.below(700); text.size() < length;) text += std::to_string(random.next());
    const Natural divisor = Natural::from_digits(text);
    const std::uint64_t quotient = random.bits(63);
    const auto rest = static_cast<std::uint32_t>(random.bits(32));
    CAPTURE(text, quotient, rest);

    Natural number = divisor;
    number.multiply_wide(quotient);
    number.multiply(1, rest);
    REQUIRE(number.divide(divisor) == quotient);
    REQUIRE(equal(number, Natural(rest)));

    const auto bits = random.below(500);
    number = divisor;
    number.shift_left(bits);
    const std::uint64_t power = number.divide(divisor);
    if (bits < 63) {
      REQUIRE(power == std::uint64_t{1} << bits);
    } else {
      REQUIRE(power >= std::uint64_t{1} << 63);
    }
    REQUIRE(number.zero());
  }
}
