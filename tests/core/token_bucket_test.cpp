// SPDX-License-Identifier: MIT
#include "tierlimit/token_bucket.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "catch.hpp"
#include "limits.hpp"
#include "random.hpp"
#include "tierlimit/limiter.hpp"
#include "tierlimit/micros.hpp"
#include "wide.hpp"

using tierlimit::accrued;
using tierlimit::BucketState;
using tierlimit::full_bucket;
using tierlimit::Limit;
using tierlimit::max_cost;
using tierlimit::max_micros;
using tierlimit::move_balance;
using tierlimit::step;
using tierlimit::time_until;
using tierlimit::Wide;
using Verdict = tierlimit::Outcome::Verdict;

namespace {

constexpr std::int64_t second = 1'000'000;
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t never = ~std::uint64_t{0};

// A limit of any numbers at all, as far as its members allow.
Limit raw_limit(std::int64_t unit, std::int64_t gain, std::int64_t full) {
  Limit limit;
  limit.unit = unit;
  limit.gain = gain;
  limit.full = full;
  limit.whole = full / unit;
  limit.fill = gain == 0 ? never : static_cast<std::uint64_t>((full - 1) / gain) + 1;
  return limit;
}

Limit random_limit(Random& random) {
  const auto unit = static_cast<std::int64_t>(1 + random.bits(62));
  const auto room = static_cast<std::uint64_t>(most - unit);
  const std::uint64_t more = random.chance(3) ? room : random.bits(63) % (room + 1);
  const auto gain = static_cast<std::int64_t>(random.chance(8) ? 0 : random.bits(63));
  return raw_limit(unit, gain, unit + static_cast<std::int64_t>(more));
}

std::int64_t random_balance(Random& random, const Limit& limit) {
  switch (random.below(4)) {
    case 0: return limit.full;
    case 1: return 0;
    default:
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(limit.full) + 1) >> random.below(63));
  }
}

std::int64_t random_time(Random& random) {
  return random.chance(3) ? (random.chance(2) ? max_micros : -max_micros)
                          : random.between(-max_micros, max_micros) >> random.below(54);
}

// A bucket and its limit, as a client sees them.
struct Bucket {
  Limit limit;
  BucketState state;

  explicit Bucket(const Limit& of, std::int64_t now = 0) : limit(of), state(full_bucket(of, now)) {}

  Verdict take(std::int64_t now, std::uint64_t cost = 1) {
    const auto outcome = step(limit, state, now, cost);
    state = outcome.state;
    return outcome.verdict;
  }
  void change(const Limit& to) {
    state.balance = move_balance(state.balance, limit, to);
    limit = to;
  }
  [[nodiscard]] std::int64_t tokens() const { return state.balance / limit.unit; }
};

}  // namespace

TEST_CASE("token bucket: starts full and refills with time") {
  Bucket bucket(limit_of("5", "1"));
  for (int i = 0; i < 5; ++i) CHECK(bucket.take(0) == Verdict::admitted);
  CHECK(bucket.take(0) == Verdict::exhausted);
  CHECK(bucket.take(2 * second) == Verdict::admitted);
  CHECK(bucket.take(2 * second) == Verdict::admitted);
  CHECK(bucket.take(2 * second) == Verdict::exhausted);
  CHECK(bucket.take(1000 * second, 5) == Verdict::admitted);
  CHECK(bucket.take(1000 * second) == Verdict::exhausted);
}

TEST_CASE("token bucket: a larger capacity gives nothing by itself and a smaller one takes away") {
  Bucket bucket(limit_of("5", "1"));
  CHECK(bucket.take(0, 5) == Verdict::admitted);
  CHECK(bucket.take(2 * second, 1) == Verdict::admitted);

  SECTION("to 10: grows from where it was, at the new rate") {
    bucket.change(limit_of("10", "2"));
    CHECK(bucket.tokens() == 1);
    CHECK(bucket.take(2 * second, 2) == Verdict::exhausted);
    CHECK(bucket.take(3 * second, 3) == Verdict::admitted);
    CHECK(bucket.take(3 * second) == Verdict::exhausted);
    CHECK(bucket.take(8 * second - 1, 10) == Verdict::exhausted);
    CHECK(bucket.take(8 * second, 10) == Verdict::admitted);
  }
  SECTION("to 2: no more than that is left") {
    Bucket full(limit_of("5", "1"));
    full.change(limit_of("2", "1"));
    CHECK(full.tokens() == 2);
    CHECK(full.take(0, 2) == Verdict::admitted);
    CHECK(full.take(0) == Verdict::exhausted);
  }
  SECTION("from 20 drained to 40: nothing") {
    Bucket drained(limit_of("20", "1"));
    CHECK(drained.take(0, 20) == Verdict::admitted);
    drained.change(limit_of("40", "1"));
    CHECK(drained.tokens() == 0);
    CHECK(drained.take(0) == Verdict::exhausted);
  }
  SECTION("the rate raised: what is left stays") {
    Bucket other(limit_of("16", "10", "20"));
    CHECK(other.take(0, 3) == Verdict::admitted);
    other.change(limit_of("16", "1000", "20"));
    CHECK(other.take(0) == Verdict::admitted);
    CHECK(other.tokens() == 12);
  }
}

TEST_CASE("token bucket: a rate of 0 never refills") {
  constexpr std::int64_t ten_years = 10 * 365 * 24 * 3600 * second;
  Bucket bucket(limit_of("3", "0"));
  for (int i = 0; i < 3; ++i) CHECK(bucket.take(0) == Verdict::admitted);
  CHECK(bucket.take(0) == Verdict::never_refills);
  CHECK(bucket.take(ten_years) == Verdict::never_refills);
  CHECK(bucket.take(ten_years, 4) == Verdict::cost_exceeds_capacity);
  CHECK(bucket.state.balance == 0);
  CHECK(time_until(bucket.limit, 0, bucket.limit.unit) == never);
  CHECK(time_until(bucket.limit, bucket.limit.full, bucket.limit.full) == 0);

  Bucket longest(limit_of("3", "0"), -max_micros);
  CHECK(longest.take(-max_micros, 2) == Verdict::admitted);
  CHECK(longest.take(max_micros, 2) == Verdict::never_refills);
  CHECK(longest.take(max_micros, 1) == Verdict::admitted);
}

TEST_CASE("token bucket: what is refused is not charged") {
  Bucket bucket(limit_of("10", "1"));
  CHECK(bucket.take(0, 8) == Verdict::admitted);
  CHECK(bucket.take(0, 5) == Verdict::exhausted);
  CHECK(bucket.tokens() == 2);
  CHECK(bucket.take(0, 2) == Verdict::admitted);

  Bucket fresh(limit_of("10", "1"));
  CHECK(fresh.take(0, 11) == Verdict::cost_exceeds_capacity);
  CHECK(fresh.tokens() == 10);

  Bucket single(limit_of("1", "1"));
  CHECK(single.take(0) == Verdict::admitted);
  CHECK(single.take(second / 2, 1'000'000) == Verdict::cost_exceeds_capacity);
  CHECK(single.take(second - 1) == Verdict::exhausted);
  CHECK(single.take(second) == Verdict::admitted);
}

TEST_CASE("token bucket: a fraction of a token fills up but is not spent") {
  Bucket bucket(limit_of("2.5", "0.5"));
  CHECK(bucket.take(0, 3) == Verdict::cost_exceeds_capacity);
  CHECK(bucket.take(0, 2) == Verdict::admitted);
  CHECK(bucket.take(0) == Verdict::exhausted);
  CHECK(bucket.take(second - 1) == Verdict::exhausted);
  CHECK(bucket.take(second) == Verdict::admitted);  // the half that was left, and another half
  CHECK(bucket.state.balance == 0);
  CHECK(bucket.take(100 * second) == Verdict::admitted);
  CHECK(bucket.take(100 * second) == Verdict::admitted);
  CHECK(bucket.take(100 * second) == Verdict::exhausted);
}

TEST_CASE("token bucket: polling neither adds nor takes away") {
  // The more often a bucket is asked, the more often a calculation with fractions would round.
  const Limit limit = limit_of("3", "10", "13");
  Bucket polled(limit);
  Bucket left_alone(limit);
  REQUIRE(polled.take(0, 3) == Verdict::admitted);
  REQUIRE(left_alone.take(0, 3) == Verdict::admitted);
  constexpr std::int64_t full_again = 3'900'000;
  for (std::int64_t now = 1; now < full_again; now += 7) REQUIRE(polled.take(now, 3) == Verdict::exhausted);
  CHECK(polled.take(full_again - 1, 3) == Verdict::exhausted);
  CHECK(left_alone.take(full_again - 1, 3) == Verdict::exhausted);
  CHECK(polled.state.balance == left_alone.state.balance);
  CHECK(polled.take(full_again, 3) == Verdict::admitted);
  CHECK(left_alone.take(full_again, 3) == Verdict::admitted);
  CHECK(polled.state.balance == 0);
}

TEST_CASE("token bucket: a frozen clock is no trap") {
  Bucket bucket(limit_of("20", "7"), 12345);
  for (int i = 0; i < 50; ++i) CHECK(bucket.take(12345) == (i < 20 ? Verdict::admitted : Verdict::exhausted));
}

TEST_CASE("token bucket: an empty one is full after `fill` and not before") {
  for (const Limit& limit : {limit_of("5", "1"), limit_of("1", "10", "13"), limit_of("1e9", "11574.074074"),
                             limit_of("100", "2e9"), limit_of("1.5", "1e-12"), raw_limit(1, most, most),
                             raw_limit(most, 1, most), raw_limit(7, most - 1, most), raw_limit(1, 2, most)}) {
    CAPTURE(limit.unit, limit.gain, limit.full);
    const auto fill = static_cast<std::int64_t>(std::min(limit.fill, static_cast<std::uint64_t>(max_micros) * 2));
    const BucketState empty{0, -max_micros};
    CHECK(accrued(limit, empty, -max_micros) == 0);
    if (fill < 2 * max_micros) {
      CHECK(accrued(limit, empty, -max_micros + fill) == limit.full);
      CHECK(accrued(limit, empty, -max_micros + fill - 1) == (fill - 1) * limit.gain);
      CHECK(accrued(limit, empty, -max_micros + fill - 1) < limit.full);
      // An almost full one stops at the brim all the same.
      CHECK(accrued(limit, {limit.full - 1, -max_micros}, -max_micros + fill - 1) ==
            (fill == 1 ? limit.full - 1 : limit.full));
    } else {
      CHECK(accrued(limit, empty, max_micros) == 2 * max_micros * limit.gain);
    }
    CHECK(accrued(limit, {limit.full, -max_micros}, max_micros) == limit.full);
  }
}

TEST_CASE("token bucket: costs up to the largest") {
  Bucket bucket(limit_of("9007199254740991", "1e6"));
  CHECK(bucket.take(0, max_cost) == Verdict::admitted);
  CHECK(bucket.state.balance == 0);
  CHECK(bucket.take(0, max_cost) == Verdict::exhausted);

  // The price of the dearest request that a bucket can hold, just below 2^63, and of one token more.
  Bucket dear(limit_of("9.2e12", "1"));
  CHECK(dear.take(0, 9'200'000'000'001) == Verdict::cost_exceeds_capacity);
  CHECK(dear.take(0, max_cost) == Verdict::cost_exceeds_capacity);
  CHECK(dear.take(0, 9'200'000'000'000) == Verdict::admitted);
  CHECK(dear.state.balance == 0);

  Bucket largest(raw_limit(most, 1, most));
  CHECK(largest.take(0, 2) == Verdict::cost_exceeds_capacity);
  CHECK(largest.take(0, max_cost) == Verdict::cost_exceeds_capacity);
  CHECK(largest.take(0, 1) == Verdict::admitted);
  CHECK(largest.take(1, 1) == Verdict::exhausted);
  CHECK(largest.state.balance == 1);
}

TEST_CASE("token bucket: accrual agrees with 128-bit arithmetic") {
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    const Limit limit = random_limit(random);
    const BucketState state{random_balance(random, limit), random_time(random)};
    const std::int64_t now = std::max(state.touched, random_time(random));
    const Wide sum = Wide{static_cast<std::uint64_t>(state.balance)} +
                     Wide{static_cast<std::uint64_t>(now - state.touched)} * static_cast<std::uint64_t>(limit.gain);
    const auto full = static_cast<std::uint64_t>(limit.full);
    const auto expected = static_cast<std::int64_t>(sum < full ? static_cast<std::uint64_t>(sum) : full);
    if (accrued(limit, state, now) != expected) {
      CAPTURE(limit.unit, limit.gain, limit.full, state.balance, state.touched, now);
      REQUIRE(accrued(limit, state, now) == expected);
    }
  }
}

TEST_CASE("token bucket: a step is what it says, whatever the numbers") {
  Random random(2);
  int verdicts[4] = {};
  for (int i = 0; i < 200'000; ++i) {
    const Limit limit = random_limit(random);
    const BucketState state{random_balance(random, limit), random_time(random)};
    const std::int64_t now = std::max(state.touched, random_time(random));
    std::uint64_t cost = 1 + random.bits(53) % max_cost;
    if (random.chance(2)) cost = 1 + random.below(static_cast<std::uint64_t>(limit.whole)) % max_cost;
    const std::int64_t balance = accrued(limit, state, now);
    const Wide price = Wide{cost} * static_cast<std::uint64_t>(limit.unit);

    Verdict verdict = Verdict::admitted;
    if (price > static_cast<std::uint64_t>(limit.full)) {
      verdict = Verdict::cost_exceeds_capacity;
    } else if (price > static_cast<std::uint64_t>(balance)) {
      verdict = limit.gain == 0 ? Verdict::never_refills : Verdict::exhausted;
    }
    const std::int64_t left =
        verdict == Verdict::admitted ? balance - static_cast<std::int64_t>(static_cast<std::uint64_t>(price)) : balance;
    const auto outcome = step(limit, state, now, cost);
    ++verdicts[static_cast<int>(verdict)];
    if (outcome.verdict != verdict || outcome.state.balance != left || outcome.state.touched != now) {
      CAPTURE(limit.unit, limit.gain, limit.full, state.balance, state.touched, now, cost);
      REQUIRE(outcome.verdict == verdict);
      REQUIRE(outcome.state.balance == left);
      REQUIRE(outcome.state.touched == now);
    }
  }
  for (const int count : verdicts) CHECK(count > 1'000);
}

TEST_CASE("token bucket: a balance waits for as long as told and not a microsecond less") {
  Random random(3);
  int waits = 0;
  for (int i = 0; i < 200'000; ++i) {
    const Limit limit = random_limit(random);
    const std::int64_t balance = random_balance(random, limit);
    const std::int64_t wanted = random_balance(random, limit);
    const std::uint64_t wait = time_until(limit, balance, wanted);
    CAPTURE(limit.unit, limit.gain, limit.full, balance, wanted);
    if (balance >= wanted) {
      REQUIRE(wait == 0);
    } else if (limit.gain == 0) {
      REQUIRE(wait == never);
    } else {
      ++waits;
      const auto gain = static_cast<std::uint64_t>(limit.gain);
      const auto missing = static_cast<std::uint64_t>(wanted - balance);
      if (!(Wide{wait} * gain >= missing && Wide{wait - 1} * gain < missing)) {
        REQUIRE(Wide{wait} * gain >= missing);
        REQUIRE(Wide{wait - 1} * gain < missing);
      }
      if (wait > static_cast<std::uint64_t>(max_micros)) continue;
      const auto then = static_cast<std::int64_t>(wait);
      REQUIRE(accrued(limit, {balance, 0}, then) >= wanted);
      REQUIRE(accrued(limit, {balance, 0}, then - 1) < wanted);
    }
  }
  CHECK(waits > 10'000);
}

TEST_CASE("token bucket: a balance moves to other credits rounded down") {
  Random random(4);
  for (int i = 0; i < 200'000; ++i) {
    const Limit from = random_limit(random);
    Limit to = random.chance(4) ? raw_limit(from.unit, from.gain, from.unit) : random_limit(random);
    const std::int64_t balance = random_balance(random, from);
    const Wide moved = Wide{static_cast<std::uint64_t>(balance)} * static_cast<std::uint64_t>(to.unit) /
                       static_cast<std::uint64_t>(from.unit);
    const auto full = static_cast<std::uint64_t>(to.full);
    const auto expected = static_cast<std::int64_t>(moved < full ? static_cast<std::uint64_t>(moved) : full);
    if (move_balance(balance, from, to) != expected) {
      CAPTURE(from.unit, from.full, to.unit, to.full, balance);
      REQUIRE(move_balance(balance, from, to) == expected);
    }
    REQUIRE(move_balance(balance, from, from) == balance);
  }
}

TEST_CASE("token bucket: moving a balance at the extremes") {
  const Limit fine = raw_limit(most, 1, most);  // one token of 2^63-1 credits
  const Limit coarse = raw_limit(1, 1, most);   // 2^63-1 tokens of one credit
  const Limit finest_but_one = raw_limit(most - 1, 1, most);
  CHECK(move_balance(most, fine, coarse) == 1);
  CHECK(move_balance(most - 1, fine, coarse) == 0);
  CHECK(move_balance(1, coarse, fine) == most);
  CHECK(move_balance(2, coarse, fine) == most);     // more than the other holds
  CHECK(move_balance(most, coarse, fine) == most);  // by very far: the product has 126 bits
  CHECK(move_balance(most, coarse, coarse) == most);
  CHECK(move_balance(most, fine, finest_but_one) == most - 1);
  CHECK(move_balance(0, coarse, fine) == 0);
  // Going somewhere and back never gains.
  const Limit third = limit_of("10", "1", "3");
  const Limit seventh = limit_of("10", "1", "7");
  for (std::int64_t balance = 0; balance <= third.full; balance += 12'347) {
    CHECK(move_balance(move_balance(balance, third, seventh), seventh, third) <= balance);
  }
}
