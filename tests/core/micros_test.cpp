// SPDX-License-Identifier: MIT
#include "tierlimit/micros.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "catch.hpp"
#include "random.hpp"

using tierlimit::max_micros;
using tierlimit::to_micros;
using tierlimit::wait_ms;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

// To the nearest integer, ties to even, told from the fractional part.
double nearest_even(double value) {
  const double below = std::floor(value);
  const double rest = value - below;
  if (rest != 0.5) return rest < 0.5 ? below : below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

double micros_as_double(double ms) { return nearest_even(ms * 1000); }

bool reaches(double now_ms, std::uint64_t wait, double instant) {
  return micros_as_double(now_ms + static_cast<double>(wait) / 1000) >= instant;
}

// What `wait_ms` is defined to be, by looking at one microsecond after the other.
double wait_ms_by_search(double now_ms, std::uint64_t wait) {
  const double instant = micros_as_double(now_ms) + static_cast<double>(wait);
  while (!reaches(now_ms, wait, instant)) ++wait;
  return static_cast<double>(wait) / 1000;
}

}  // namespace

TEST_CASE("micros: readings are rounded to the nearest microsecond") {
  CHECK(to_micros(0) == 0);
  CHECK(to_micros(-0.0) == 0);
  CHECK(to_micros(1) == 1000);
  CHECK(to_micros(1.0004) == 1000);
  CHECK(to_micros(1.0006) == 1001);
  CHECK(to_micros(-1.0004) == -1000);
  CHECK(to_micros(-1.0006) == -1001);
  CHECK(to_micros(1700000000000.123) == 1700000000000123);
  CHECK(to_micros(5e-324) == 0);
}

TEST_CASE("micros: a tie goes to the even microsecond") {
  for (const double half : {0.5, 1.5, 2.5, 3.5, 1000.5, 1001.5, 123456789.5, 4503599627370494.5, 4503599627370495.5}) {
    for (const double tie : {half, -half}) {
      const double ms = tie / 1000;
      if (ms * 1000 != tie) continue;  // no reading gives this tie
      CAPTURE(tie);
      CHECK(to_micros(ms) == static_cast<std::int64_t>(nearest_even(tie)));
    }
  }
  REQUIRE(0.0005 * 1000 == 0.5);
  CHECK(to_micros(0.0005) == 0);
  REQUIRE(0.0015 * 1000 == 1.5);
  CHECK(to_micros(0.0015) == 2);
  REQUIRE(0.0025 * 1000 == 2.5);
  CHECK(to_micros(0.0025) == 2);
  CHECK(to_micros(-0.0015) == -2);
}

TEST_CASE("micros: readings lie within 2^53 microseconds of zero") {
  const double last = 9007199254740.992;
  REQUIRE(last * 1000 == static_cast<double>(max_micros));
  CHECK(to_micros(last) == max_micros);
  CHECK(to_micros(-last) == -max_micros);
  double beyond = std::nextafter(last, infinity);
  while (beyond * 1000 == static_cast<double>(max_micros)) beyond = std::nextafter(beyond, infinity);
  for (const double ms : {beyond, 1e13, 1e300, std::numeric_limits<double>::max(), infinity}) {
    CAPTURE(ms);
    CHECK_FALSE(to_micros(ms).has_value());
    CHECK_FALSE(to_micros(-ms).has_value());
  }
  CHECK_FALSE(to_micros(std::numeric_limits<double>::quiet_NaN()).has_value());
}

TEST_CASE("micros: any reading is rounded as its fractional part says") {
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto whole = static_cast<double>(random.between(-max_micros, max_micros) >> random.below(54));
    const double ms = (whole + static_cast<double>(random.below(16)) / 16) / 1000;
    if (std::fabs(ms * 1000) > static_cast<double>(max_micros)) continue;
    const auto expected = static_cast<std::int64_t>(micros_as_double(ms));
    if (to_micros(ms) != expected) {
      CAPTURE(ms);
      REQUIRE(to_micros(ms) == expected);
    }
  }
}

TEST_CASE("micros: a clock of whole microseconds is read exactly below 2^41 milliseconds") {
  constexpr std::int64_t bound = (std::int64_t{1} << 41) * 1000;
  Random random(2);
  for (int i = 0; i < 200'000; ++i) {
    const std::int64_t micros = random.between(-bound, bound) >> random.below(52);
    const double ms = static_cast<double>(micros) / 1000;
    if (to_micros(ms) != micros) {
      CAPTURE(ms);
      REQUIRE(to_micros(ms) == micros);
    }
  }
}

TEST_CASE("micros: a wait is the least that reaches its instant") {
  struct Readings {
    const char* name;
    double first;
    double span;
  };
  const Readings readings =
      GENERATE(Readings{"small", 0, 10'000}, Readings{"around zero", -10'000, 20'000},
               Readings{"since 1970", 1.7e12, 1e9}, Readings{"before 1970", -1.7e12, 1e9},
               Readings{"near the end", 9.007199e12, 2.5e5}, Readings{"near the start", -9.007199254e12, 2.5e5});
  CAPTURE(readings.name);
  Random random(3);
  int raised = 0;
  for (int i = 0; i < 50'000; ++i) {
    const double now_ms = readings.first + readings.span * (static_cast<double>(random.below(1 << 30)) / (1 << 30));
    const auto now = to_micros(now_ms);
    REQUIRE(now.has_value());
    std::uint64_t wait = random.bits(50);
    if (i % 16 == 0) wait = static_cast<std::uint64_t>(max_micros - *now);  // the last instant that there is
    if (wait > static_cast<std::uint64_t>(max_micros - *now)) continue;
    const double result = wait_ms(now_ms, wait);
    const double expected = wait_ms_by_search(now_ms, wait);
    if (result != expected) {
      CAPTURE(now_ms, wait);
      REQUIRE(result == expected);
    }
    if (result != static_cast<double>(wait) / 1000) ++raised;
  }
  CHECK(raised > 0);  // some clocks and waits are too coarse for it
}

TEST_CASE("micros: a wait beyond the last reading is told as it is") {
  CHECK(wait_ms(0, static_cast<std::uint64_t>(max_micros) + 1) == static_cast<double>(max_micros + 1) / 1000);
  CHECK(wait_ms(1.7e12, never) == static_cast<double>(never) / 1000);
  CHECK(wait_ms(-9007199254740.992, std::uint64_t{1} << 54) == static_cast<double>(std::uint64_t{1} << 54) / 1000);
  CHECK(wait_ms(9007199254740.992, 0) == 0);
  CHECK(wait_ms(9007199254740.992, 1) == 0.001);
}

TEST_CASE("micros: a clock of whole microseconds below 2^41 milliseconds meets the instant exactly") {
  constexpr std::int64_t bound = (std::int64_t{1} << 41) * 1000;
  Random random(4);
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t now = random.between(0, bound - 1) >> random.below(40);
    const auto wait =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound - now)) >> random.below(50));
    const double now_ms = static_cast<double>(now) / 1000;
    const auto then = to_micros(now_ms + wait_ms(now_ms, static_cast<std::uint64_t>(wait)));
    if (then != now + wait) {
      CAPTURE(now, wait);
      REQUIRE(then == now + wait);
    }
  }
}
