// SPDX-License-Identifier: MIT
#include "tierlimit/decimal.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "limits.hpp"
#include "random.hpp"

using tierlimit::Decimal;

namespace {

struct Spelling {
  const char* text;
  const char* digits;
  std::int64_t exponent;
  bool negative;
};

// 2^1024 - 2^970: the least number that rounds to infinity.
const std::string overflow_threshold =
    "179769313486231580793728971405303415079934132710037826936173778980444968292764750946649017977587207096330286416"
    "692887910946555547851940402630657488671505820681908902000708383676273854845817711531764475730270069855571366959"
    "622842914819860834936475292719074168444365510704342711559699508093042880177904174497792";

std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

}  // namespace

TEST_CASE("decimal: reads what JSON calls a number") {
  const Spelling spellings[] = {
      {"0", "", 0, false},
      {"-0", "", 0, false},
      {"-0.000", "", 0, false},
      {"0e5", "", 0, false},
      {"0E-999999999999999999999", "", 0, false},
      {"1", "1", 0, false},
      {"-1", "1", 0, true},
      {"12", "12", 0, false},
      {"0.5", "5", -1, false},
      {"0.050", "5", -2, false},
      {"10", "1", 1, false},
      {"10.0", "1", 1, false},
      {"1.5E-7", "15", -8, false},
      {"-2.50e+3", "25", 2, true},
      {"1e3", "1", 3, false},
      {"1e0003", "1", 3, false},
      {"1e-0", "1", 0, false},
      {"100e-2", "1", 0, false},
      {"0.000123e3", "123", -3, false},
      {"123456789012345678901234567890", "12345678901234567890123456789", 1, false},
      {"9007199254740993", "9007199254740993", 0, false},
      {"0.1000000000000000055511151231257827", "1000000000000000055511151231257827", -34, false},
  };
  for (const Spelling& spelling : spellings) {
    CAPTURE(spelling.text);
    const auto number = Decimal::parse(spelling.text);
    REQUIRE(number.has_value());
    CHECK(number->digits() == spelling.digits);
    CHECK(number->exponent() == spelling.exponent);
    CHECK(number->negative() == spelling.negative);
    CHECK(number->zero() == number->digits().empty());
  }
}

TEST_CASE("decimal: refuses everything else") {
  using namespace std::string_view_literals;
  for (const std::string_view text :
       {""sv,     "-"sv,    "+1"sv,    "--1"sv,      "01"sv,       "00"sv,    "-01"sv,  ".5"sv,    "-.5"sv,   "1."sv,
        "1.e3"sv, "1e"sv,   "1e+"sv,   "1e-"sv,      "e5"sv,       "1e1.5"sv, "1ee5"sv, "1e+-5"sv, "1.2.3"sv, "0x10"sv,
        "010"sv,  "NaN"sv,  "inf"sv,   "1 "sv,       " 1"sv,       "1\n"sv,   "1\0"sv,  "1,5"sv,   "1_000"sv, "1e5x"sv,
        "1f"sv,   "true"sv, "\"1\""sv, "\xd9\xa3"sv, "Infinity"sv, "1e5 "sv,  "- 1"sv,  "1-"sv}) {
    CAPTURE(text);
    CHECK_FALSE(Decimal::parse(text).has_value());
  }
}

TEST_CASE("decimal: a whole number is what its digits say") {
  CHECK(Decimal().zero());
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t whole = i == 0 ? ~std::uint64_t{0} : random.bits() * (random.chance(2) ? 1 : 1000);
    const Decimal number(whole);
    const Decimal parsed = decimal(std::to_string(whole));
    CAPTURE(whole);
    REQUIRE(number.digits() == parsed.digits());
    REQUIRE(number.exponent() == parsed.exponent());
    REQUIRE_FALSE(number.negative());
  }
}

TEST_CASE("decimal: digits past the 800th are cut and marked") {
  const std::string kept(800, '7');
  const auto zeros = [](std::size_t count) { return std::string(count, '0'); };

  SECTION("nothing is cut from 800 digits and the zeros around them") {
    const Decimal number = decimal(join({"0.", zeros(5000), kept, zeros(5000)}));
    CHECK(number.digits() == kept);
    CHECK(number.exponent() == -5800);
  }
  SECTION("zeros that are cut leave no mark") {
    const Decimal number = decimal(join({kept, zeros(300), ".", zeros(200)}));
    CHECK(number.digits() == kept);
    CHECK(number.exponent() == 300);
  }
  SECTION("zeros at the end of what is kept go too") {
    const Decimal number = decimal(join({"1", zeros(2000)}));
    CHECK(number.digits() == "1");
    CHECK(number.exponent() == 2000);
  }
  SECTION("whatever else is cut counts as a digit 1 in the next place") {
    for (const std::string_view cut : {"9", "1", "0000000001", "1000000000", "9999999999"}) {
      CAPTURE(cut);
      const Decimal number = decimal(join({kept, ".", cut}));
      CHECK(number.digits() == join({kept, "1"}));
      CHECK(number.exponent() == -1);
    }
    const Decimal number = decimal(join({kept, zeros(99), "1e-7"}));
    CHECK(number.digits() == join({kept, "1"}));
    CHECK(number.exponent() == 100 - 1 - 7);
  }
  SECTION("the mark stands behind zeros, too") {
    const Decimal number = decimal(join({"1", zeros(1000), "5"}));
    CHECK(number.digits() == join({"1", zeros(799), "1"}));
    CHECK(number.exponent() == 1001 - 800);
  }
}

TEST_CASE("decimal: exponents may be of any size") {
  CHECK_FALSE(decimal("1e1000000").within_double_range());
  CHECK_FALSE(decimal("1e99999999999999999999999999").within_double_range());
  CHECK(decimal("1e-99999999999999999999999999").within_double_range());
  CHECK(decimal("0e99999999999999999999999999").within_double_range());
  CHECK(decimal(join({"0.", std::string(1000, '0'), "1e1001"})).within_double_range());
}

TEST_CASE("decimal: the range of a double ends where rounding gives infinity") {
  REQUIRE(overflow_threshold.size() == 309);
  REQUIRE(std::isinf(std::strtod(overflow_threshold.c_str(), nullptr)));

  const std::string just_below = join({overflow_threshold.substr(0, 308), "1.", std::string(600, '9')});
  const std::string just_above = join({overflow_threshold, ".", std::string(600, '0'), "1"});
  for (const std::string_view text :
       {std::string_view("1.7976931348623157e308"), std::string_view("0.17e309"),
        std::string_view("1.7976931348623158e308"), std::string_view("999e305"), std::string_view(just_below),
        std::string_view("1e308"), std::string_view("0"), std::string_view("5e-324"), std::string_view("1e-400")}) {
    CAPTURE(text);
    CHECK(decimal(text).within_double_range());
    CHECK(decimal(join({"-", text})).within_double_range());
  }
  for (const std::string_view text :
       {std::string_view("1.7976931348623159e308"), std::string_view(overflow_threshold), std::string_view(just_above),
        std::string_view("1.8e308"), std::string_view("9.99e308"), std::string_view("1e309")}) {
    CAPTURE(text);
    CHECK_FALSE(decimal(text).within_double_range());
    CHECK_FALSE(decimal(join({"-", text})).within_double_range());
  }
}

TEST_CASE("decimal: the range is that of strtod") {
  Random random(2);
  int outside = 0;
  for (int i = 0; i < 5000; ++i) {
    // The threshold with one digit changed, anywhere; sometimes cut, sometimes with a fraction, in other units.
    std::string text = overflow_threshold;
    text[random.below(text.size())] = static_cast<char>('0' + random.below(10));
    if (text.front() == '0') text.front() = '1';
    if (random.chance(4)) text += '.' + std::to_string(random.next());
    if (random.chance(4)) {
      const auto point = 1 + random.below(300);
      text = text.substr(0, point) + '.' + text.substr(point, 309 - point) + 'e' + std::to_string(309 - point);
    }
    const bool finite = std::isfinite(std::strtod(text.c_str(), nullptr));
    outside += finite ? 0 : 1;
    if (decimal(text).within_double_range() != finite) {
      CAPTURE(text);
      REQUIRE(decimal(text).within_double_range() == finite);
    }
  }
  CHECK(outside > 1000);
  CHECK(outside < 4000);
}
