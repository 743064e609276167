// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "fraction.hpp"
#include "limits.hpp"
#include "random.hpp"
#include "tierlimit/policy.hpp"
#include "wide.hpp"

using tierlimit::Algorithm;
using tierlimit::Error;
using tierlimit::ErrorCode;
using tierlimit::Limit;
using tierlimit::Wide;
using Rounded = tierlimit::Limit::Rounded;

namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

struct Case {
  const char* capacity;
  const char* tokens;
  const char* seconds;
  std::int64_t unit;
  std::int64_t gain;
  std::int64_t full;
  Rounded rounded = Rounded::nothing;
};

void check(const Case& expected) {
  CAPTURE(expected.capacity, expected.tokens, expected.seconds);
  const auto made = make_limit(expected.capacity, expected.tokens, expected.seconds);
  REQUIRE(made.ok());
  const Limit& limit = made.value();
  CHECK(limit.unit == expected.unit);
  CHECK(limit.gain == expected.gain);
  CHECK(limit.full == expected.full);
  CHECK(limit.rounded == expected.rounded);
  CHECK(limit.whole == expected.full / expected.unit);
  if (expected.gain == 0) {
    CHECK(limit.fill == never);
  } else {
    const auto full = static_cast<std::uint64_t>(expected.full);
    const auto gain = static_cast<std::uint64_t>(expected.gain);
    CHECK(limit.fill == full / gain + (full % gain != 0 ? 1 : 0));
  }
  CHECK(limit.capacity == std::strtod(expected.capacity, nullptr));
}

Error refusal(std::string_view capacity, std::string_view tokens, std::string_view seconds = "1") {
  const auto made = make_limit(capacity, tokens, seconds);
  CAPTURE(capacity, tokens, seconds);
  REQUIRE_FALSE(made.ok());
  CHECK_FALSE(made.error().message.empty());
  return made.error();
}

}  // namespace

TEST_CASE("limit: numbers that fit are exact") {
  const Case cases[] = {
      {"5", "1", "1", 1'000'000, 1, 5'000'000},
      {"7", "7", "604800", 86'400'000'000, 1, 604'800'000'000},
      {"1e12", "1e12", "2592000", 324, 125, 324'000'000'000'000},
      {"1", "10", "13", 1'300'000, 1, 1'300'000},
      {"1", "625", "3600", 5'760'000, 1, 5'760'000},
      {"1", "0.625", "3.6", 5'760'000, 1, 5'760'000},
      {"3", "0", "1", 1, 0, 3},
      {"3", "-0.0", "1", 1, 0, 3},
      {"3.75", "0", "1e-9", 4, 0, 15},
      {"2.5", "0.1", "1", 10'000'000, 1, 25'000'000},
      {"1.1", "0.3", "1", 10'000'000, 3, 11'000'000},
      {"1.000001", "1", "1", 1'000'000, 1, 1'000'001},
      {"2", "1e-11", "1", 100'000'000'000'000'000, 1, 200'000'000'000'000'000},
      {"1.5", "1e-12", "1", 1'000'000'000'000'000'000, 1, 1'500'000'000'000'000'000},
      {"100", "2e9", "1", 1, 2'000, 100},
      {"100", "1e400", "1e399", 100'000, 1, 10'000'000},
      {"1e18", "1e6", "1", 1, 1, 1'000'000'000'000'000'000},
      {"9.2e12", "1", "1", 1'000'000, 1, 9'200'000'000'000'000'000},
  };
  for (const Case& each : cases) check(each);
}

TEST_CASE("limit: the last numbers that fit") {
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  check({"9223372036854775807", "0", "1", 1, 0, last});
  check({"9223372036854775807", "1e6", "1", 1, 1, last});
  check({"1", "9223372036854775807e6", "1", 1, last, 1});
  check({"1", "1e6", "9223372036854775807", last, 1, last});
}

TEST_CASE("limit: a rate that does not fit is the simplest that rounds to the same double") {
  check({"1e6", "11.57407407", "1", 25'568'179'209, 295'928, 25'568'179'209'000'000, Rounded::rate});
  check({"1e6", "0.3333333333333333", "1", 3'000'000, 1, 3'000'000'000'000, Rounded::rate});
  check({"1000000.1", "0.3333333333333333", "1", 3'000'000, 1, 3'000'000'300'000, Rounded::rate});
  check({"1", "9223372036854775808e6", "1", 1, 9'223'372'036'854'775'272, 1, Rounded::rate});
}

TEST_CASE("limit: failing that it is the closest from below") {
  check({"1e9", "11574.074074", "1", 9'223'371'677, 106'751'987, 9'223'371'677'000'000'000, Rounded::rate});
  check({"3.141592653589793", "2.718281828459045", "1", 2'869'000'000'000'000'000, 7'798'750'565'849,
         9'013'229'323'149'116'117, Rounded::rate});
  check({"12345678.9", "0.000123456789012345678", "1", 251'100'002'260, 31, 3'099'999'999'691'234'314, Rounded::rate});
}

TEST_CASE("limit: only then is the capacity rounded") {
  check({"1.00000000000000000001", "1", "1", 1'000'000, 1, 1'000'000, Rounded::capacity});
  check({"3.14159265358979323846", "1", "1", 78'256'779'000'000, 78'256'779, 245'850'922'000'000, Rounded::capacity});
  check({"9223372036854775808", "0", "1", 1, 0, 9'223'372'036'854'775'296, Rounded::capacity});
  check({"3.14159265358979323846", "2.71828182845904523536", "1", 2'556'405'562'001'017'875, 6'949'030'785'359,
         8'031'184'933'178'484'250, Rounded::both});
}

TEST_CASE("limit: what fits in no way is refused as a whole") {
  const std::string_view cases[][3] = {
      {"1", "1e-13", "1"},
      {"1e9", "1", "86400"},
      {"9.3e12", "1", "1"},
      {"1e15", "0.3333333333333333", "1"},
      {"1e18", "0.3", "1"},
      {"9223372036854775807", "1", "1"},
      {"4611686018427387904.5", "1", "1"},
      {"123456789012.3456789", "123.456789", "1"},
      {"1e19", "1", "1"},
      {"1e308", "1", "1"},
      {"1e400", "0", "1"},
      {"1", "1e25", "1"},
      {"1", "1e308", "1"},
      {"1", "1e-308", "1"},
      {"1", "1", "1e-308"},
      {"1", "1", "1e308"},
      {"1", "1e1000000000000", "1e-1000000000000"},
      {"1", "1e-1000000000000", "1e1000000000000"},
  };
  for (const auto& each : cases) {
    const Error error = refusal(each[0], each[1], each[2]);
    CHECK(error.code == ErrorCode::not_representable);
    CHECK(error.path.empty());
  }
}

TEST_CASE("limit: numbers may be of any length") {
  const std::string zeros(800, '0');
  const std::string threes(5'000, '3');
  check({"5", ("0." + threes).c_str(), "1", 3'000'000, 1, 15'000'000, Rounded::rate});
  check({("5." + zeros + "1").c_str(), "1", ("3." + zeros + "1").c_str(), 3'000'000, 1, 15'000'000, Rounded::both});

  // As long as they are read, and as far apart as limits are looked at.
  Random random(2);
  const auto number = [&](std::int64_t magnitude) {
    std::string digits;
    const char first = random.chance(2) ? '9' : '1';
    digits += first;
    while (digits.size() < 900) digits += random.chance(2) ? '9' : static_cast<char>('0' + random.below(10));
    if (random.chance(4)) std::fill(digits.begin() + 1, digits.end(), first == '9' ? '9' : '0');
    return digits + "e" + std::to_string(magnitude - 900);
  };
  for (int i = 0; i < 300; ++i) {
    const std::int64_t magnitude = random.pick({-400, -30, 0, 1, 30, 400});
    const std::string capacity = number(random.pick({1, 2, 19, 30}));
    const std::string tokens = number(magnitude + random.pick({-30, -29, -13, 0, 6, 29, 30}));
    const std::string seconds = number(magnitude);
    CAPTURE(capacity, tokens, seconds);
    const auto made = make_limit(capacity, tokens, seconds);
    if (made.ok()) {
      REQUIRE(made.value().whole == made.value().full / made.value().unit);
    } else {
      REQUIRE(made.error().code == ErrorCode::not_representable);
    }
  }
}

TEST_CASE("limit: values that break a rule are named") {
  struct Broken {
    const char* capacity;
    const char* tokens;
    const char* seconds;
    const char* path;
  };
  const Broken cases[] = {
      {"0", "1", "1", "capacity"},
      {"-0", "1", "1", "capacity"},
      {"-1", "1", "1", "capacity"},
      {"0.5", "1", "1", "capacity"},
      {"0.99999999999999999999999999", "1", "1", "capacity"},  // though the nearest double is 1
      {"1e-400", "1", "1", "capacity"},
      {"1", "-1", "1", "tokens"},
      {"1", "-1e-400", "1", "tokens"},
      {"1", "1", "0", "seconds"},
      {"1", "1", "-1", "seconds"},
      {"1", "0", "0", "seconds"},
      {"0", "-1", "0", "capacity"},  // the first of several
      {"1", "-1", "0", "tokens"},
  };
  for (const Broken& each : cases) {
    const Error error = refusal(each.capacity, each.tokens, each.seconds);
    CHECK(error.code == ErrorCode::invalid_value);
    CHECK(error.path == each.path);
  }
}

TEST_CASE("limit: limits are equal when decisions cannot tell them apart") {
  CHECK(limit_of("5", "1") == limit_of("5.0", "60", "60"));
  CHECK(limit_of("1e6", "0.3333333333333333") == limit_of("1e6", "1", "3"));
  CHECK_FALSE(limit_of("5", "1") == limit_of("6", "1"));
  CHECK_FALSE(limit_of("5", "1") == limit_of("5", "2"));
  CHECK_FALSE(limit_of("5", "1") == limit_of("5.5", "1.1"));
}

TEST_CASE("limit: a window is whole tokens in whole microseconds") {
  struct Window {
    Algorithm algorithm;
    const char* limit;
    const char* seconds;
    std::int64_t whole;
    std::uint64_t micros;
  };
  const std::string long_number = "5." + std::string(900, '0');
  const Window cases[] = {
      {Algorithm::sliding_window, "1", "0.000001", 1, 1},
      {Algorithm::sliding_window, "100", "60", 100, 60'000'000},
      {Algorithm::sliding_window, "1e3", "1.000001", 1'000, 1'000'001},
      {Algorithm::sliding_window, "1000.0", "86400", 1'000, 86'400'000'000},
      {Algorithm::sliding_window, "10000", "500000000", Limit::most_logged, Limit::longest_window},
      {Algorithm::fixed_window, "1", "1e-6", 1, 1},
      {Algorithm::fixed_window, "10001", "0.1", 10'001, 100'000},
      {Algorithm::fixed_window, "4294967297", "4294.967297", 4'294'967'297, 4'294'967'297},
      {Algorithm::fixed_window, "9007199254740991", "5e8", Limit::most_counted, Limit::longest_window},
      {Algorithm::fixed_window, "9007199254740990", "499999999.999999", 9'007'199'254'740'990, 499'999'999'999'999},
      {Algorithm::fixed_window, "0.00000000000000000000000005e26", "10000000000000000000000000e-25", 5, 1'000'000},
      {Algorithm::fixed_window, long_number.c_str(), long_number.c_str(), 5, 5'000'000},
  };
  for (const Window& each : cases) {
    CAPTURE(each.limit, each.seconds);
    const Limit limit = window_of(each.algorithm, each.limit, each.seconds);
    CHECK(limit.algorithm == each.algorithm);
    CHECK(limit.whole == each.whole);
    CHECK(limit.fill == each.micros);
    CHECK(limit.capacity == std::strtod(each.limit, nullptr));
    CHECK(limit.unit == 1);
    CHECK(limit.gain == 0);
    CHECK(limit.full == std::numeric_limits<std::int64_t>::max());
    CHECK(limit.rounded == Rounded::nothing);
    CHECK(limit.on_raise == tierlimit::OnRaise::keep);
    CHECK(limit.accrual == tierlimit::Accrual::at_next);
  }
}

TEST_CASE("limit: what makes no window is named") {
  struct Broken {
    Algorithm algorithm;
    const char* limit;
    const char* seconds;
    const char* path;
  };
  const std::string beyond_reading = "5." + std::string(900, '0') + "1";
  const Broken cases[] = {
      {Algorithm::sliding_window, "0", "60", "limit"},
      {Algorithm::sliding_window, "-0", "60", "limit"},
      {Algorithm::sliding_window, "-1", "60", "limit"},
      {Algorithm::sliding_window, "0.5", "60", "limit"},
      {Algorithm::sliding_window, "1.5", "60", "limit"},
      {Algorithm::sliding_window, "10001", "60", "limit"},
      {Algorithm::sliding_window, beyond_reading.c_str(), "60", "limit"},
      {Algorithm::fixed_window, "0", "60", "limit"},
      {Algorithm::fixed_window, "10000.5", "60", "limit"},
      {Algorithm::fixed_window, "9007199254740992", "60", "limit"},
      {Algorithm::fixed_window, "9007199254740991.5", "60", "limit"},
      {Algorithm::fixed_window, "999999999999999999", "60", "limit"},
      {Algorithm::fixed_window, "1e18", "60", "limit"},
      {Algorithm::fixed_window, "18446744073709551617", "60", "limit"},  // 2^64 + 1
      {Algorithm::fixed_window, "1e1000000000000", "60", "limit"},
      {Algorithm::fixed_window, "1e-1000000000000", "60", "limit"},
      {Algorithm::fixed_window, "100", "0", "seconds"},
      {Algorithm::fixed_window, "100", "-0.0", "seconds"},
      {Algorithm::fixed_window, "100", "-1", "seconds"},
      {Algorithm::fixed_window, "100", "0.0000001", "seconds"},
      {Algorithm::fixed_window, "100", "1.0000005", "seconds"},
      {Algorithm::fixed_window, "100", "500000000.000001", "seconds"},
      {Algorithm::fixed_window, "100", "500000001", "seconds"},
      {Algorithm::fixed_window, "100", "999999999999", "seconds"},
      {Algorithm::fixed_window, "100", "18446744073709.551617", "seconds"},
      {Algorithm::fixed_window, "100", "1e300", "seconds"},
      {Algorithm::fixed_window, "100", "1e-300", "seconds"},
      {Algorithm::fixed_window, "100", beyond_reading.c_str(), "seconds"},
      {Algorithm::fixed_window, "0", "0", "limit"},  // the first of several
      {Algorithm::token_bucket, "100", "60", "algorithm"},
  };
  for (const Broken& each : cases) {
    CAPTURE(each.limit, each.seconds);
    const auto made = make_window(each.algorithm, each.limit, each.seconds);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == ErrorCode::invalid_value);
    CHECK(made.error().path == each.path);
    CHECK_FALSE(made.error().message.empty());
  }
}

TEST_CASE("limit: windows are equal when decisions cannot tell them apart") {
  const Limit minute = window_of(Algorithm::fixed_window, "100", "60");
  CHECK(minute == window_of(Algorithm::fixed_window, "1e2", "60.000000"));
  CHECK_FALSE(minute == window_of(Algorithm::fixed_window, "101", "60"));
  CHECK_FALSE(minute == window_of(Algorithm::fixed_window, "100", "60.000001"));
  CHECK_FALSE(minute == window_of(Algorithm::sliding_window, "100", "60"));
  CHECK_FALSE(minute == limit_of("100", "100", "60"));
}

TEST_CASE("limit: any numbers that fit are in lowest terms and within what they say of themselves") {
  Random random(1);
  int exact = 0;
  int rounded = 0;
  for (int i = 0; i < 5'000; ++i) {
    // hundredths of tokens; tokens in a number of seconds that may make it hard
    const std::uint64_t cents = 100 + random.bits(40);
    const std::uint64_t tokens = 1 + random.bits(44);
    const std::uint64_t seconds = 1 + random.bits(30);
    const auto made = make_limit(std::to_string(cents) + "e-2", std::to_string(tokens), std::to_string(seconds));
    if (!made.ok()) {
      REQUIRE(made.error().code == ErrorCode::not_representable);
      continue;
    }
    const Limit& limit = made.value();
    CAPTURE(cents, tokens, seconds);
    REQUIRE(limit.unit > 0);
    REQUIRE(limit.gain >= 0);
    REQUIRE(limit.full >= limit.unit);
    REQUIRE(std::gcd(std::gcd(limit.unit, limit.gain), limit.full) == 1);
    REQUIRE((limit.rounded == Rounded::nothing || limit.rounded == Rounded::rate));
    REQUIRE(Wide{static_cast<std::uint64_t>(limit.full)} * 100 == Wide{static_cast<std::uint64_t>(limit.unit)} * cents);

    // gain / unit against tokens / (seconds * 10^6), over a common denominator
    tierlimit::Natural is(static_cast<std::uint64_t>(limit.gain));
    is.multiply_wide(seconds);
    is.multiply(1'000'000);
    tierlimit::Natural wanted(static_cast<std::uint64_t>(limit.unit));
    wanted.multiply_wide(tokens);
    const bool faster = is.compare(wanted) > 0;
    tierlimit::Natural error = faster ? is : wanted;
    error.subtract(faster ? wanted : is);
    REQUIRE(error.zero() == (limit.rounded == Rounded::nothing));
    ++(error.zero() ? exact : rounded);
    error.shift_left(32);
    const bool close = error.compare(wanted) <= 0;
    REQUIRE(close);
  }
  CHECK(exact > 200);
  CHECK(rounded > 200);
}
