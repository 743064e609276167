// SPDX-License-Identifier: MIT
#include "tierlimit/bucket_table.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>

#include "catch.hpp"
#include "random.hpp"

using tierlimit::BucketTable;
using tierlimit::Fingerprint;
using tierlimit::Slot;

namespace {

constexpr std::uint32_t plenty = 1 << 20;
constexpr std::uint64_t plenty_of_bytes = std::uint64_t{plenty} * 64;

struct Less {
  bool operator()(const Fingerprint& x, const Fingerprint& y) const {
    return std::tie(x.a, x.b, x.c) < std::tie(y.a, y.b, y.c);
  }
};

// What the table should hold: a balance by client.
using Expected = std::map<Fingerprint, std::int64_t, Less>;

Fingerprint number(std::uint32_t i) { return {i * 0x9e3779b1, i, ~i}; }

bool add(BucketTable& table, const Fingerprint& client, std::int64_t balance) {
  Slot* const slot = table.insert(client);
  if (slot == nullptr) return false;
  slot->definition = 1;
  slot->state.balance = balance;
  return true;
}

// Everything in the table can be found, and nothing else is in it.
bool holds(const BucketTable& table, const Expected& expected) {
  if (table.size() != expected.size()) return false;
  std::uint32_t used = 0;
  for (std::uint32_t i = 0; i < table.slots(); ++i) used += table.at(i).definition != 0 ? 1U : 0U;
  if (used != expected.size()) return false;
  for (const auto& [client, balance] : expected) {
    const Slot* const slot = table.find(client);
    if (slot == nullptr || !(slot->client == client) || slot->state.balance != balance) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("bucket table: empty") {
  const BucketTable table(plenty, plenty_of_bytes);
  CHECK(table.find(number(1)) == nullptr);
  CHECK(table.size() == 0);
  CHECK(table.slots() == 0);
  CHECK(table.bytes() == 0);
  CHECK(table.has_room());
}

TEST_CASE("bucket table: keeps many apart while it grows") {
  BucketTable table(plenty, plenty_of_bytes);
  Expected expected;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    REQUIRE(table.find(number(i)) == nullptr);
    REQUIRE(add(table, number(i), i));
    expected.emplace(number(i), i);
    // Never so full that a search for what is not there takes long.
    REQUIRE(table.size() <= table.slots() - table.slots() / 8);
  }
  CHECK(holds(table, expected));
  CHECK(table.bytes() == std::uint64_t{table.slots()} * 32);
  CHECK(&table.at(table.slots() + 3) == &table.at(3));
  CHECK(table.find(number(10'000)) == nullptr);
}

TEST_CASE("bucket table: does what a map does, whatever falls together") {
  struct Shape {
    const char* name;
    std::uint32_t homes;  // Clients come from so many places in a row …
    std::uint32_t first;  // … from here on,
    std::uint32_t clients;
    std::uint32_t most;  // and the table holds no more than this.
  };
  const Shape shape = GENERATE(Shape{"all at one place", 1, 9, 30, plenty},    //
                               Shape{"all at the last place", 1, 15, 14, 14},  //
                               Shape{"around the end of 16", 4, 14, 28, 14},   //
                               Shape{"around the end of 64", 6, 61, 110, 56},  //
                               Shape{"around the end while it grows", 5, 0xfffffffe, 200, plenty},
                               Shape{"everywhere in 16", 16, 0, 40, 14},  //
                               Shape{"spread out", 1 << 16, 0, 3'000, plenty});
  CAPTURE(shape.name);
  Random random(1);
  BucketTable table(shape.most, plenty_of_bytes);
  Expected expected;
  for (int i = 0; i < 40'000; ++i) {
    const auto which = static_cast<std::uint32_t>(random.below(shape.clients));
    // The same place modulo the table's size, though not the same number.
    const Fingerprint client{shape.first + which % shape.homes + (which << 20 & 0xfff00000), which, which / 3};
    const auto known = expected.find(client);
    Slot* const slot = table.find(client);
    REQUIRE((slot != nullptr) == (known != expected.end()));
    if (slot == nullptr) {
      const bool room = expected.size() < shape.most;
      REQUIRE(table.has_room() == room);
      REQUIRE(add(table, client, i) == room);
      if (room) expected.emplace(client, i);
    } else if (random.chance(3)) {
      slot->state.balance = i;
      known->second = i;
    } else {
      table.erase(*slot);
      expected.erase(known);
    }
    // Phases of filling up and of emptying.
    if (i % 5'000 > 3'500 && !expected.empty()) {
      const auto victim = std::next(expected.begin(), static_cast<std::ptrdiff_t>(random.below(expected.size())));
      table.erase(*table.find(victim->first));
      expected.erase(victim);
    }
    if (expected.size() < 64 || i % 64 == 0) REQUIRE(holds(table, expected));
  }
}

TEST_CASE("bucket table: is bounded in buckets") {
  BucketTable table(100, plenty_of_bytes);
  for (std::uint32_t i = 0; i < 100; ++i) REQUIRE(add(table, number(i), i));
  CHECK_FALSE(table.has_room());
  CHECK(table.insert(number(100)) == nullptr);
  CHECK(table.insert(number(101)) == nullptr);
  CHECK(table.size() == 100);
  CHECK(table.find(number(100)) == nullptr);
  for (std::uint32_t i = 0; i < 100; ++i) CHECK(table.find(number(i))->state.balance == i);
  table.erase(*table.find(number(7)));
  CHECK(table.has_room());
  CHECK(add(table, number(100), 100));
  CHECK_FALSE(table.has_room());

  BucketTable none(0, plenty_of_bytes);
  CHECK_FALSE(none.has_room());
  CHECK(none.insert(number(1)) == nullptr);
  CHECK(none.bytes() == 0);
}

TEST_CASE("bucket table: is bounded in bytes") {
  const auto capacity = [](std::uint64_t bytes) {
    BucketTable table(plenty, bytes);
    std::uint32_t count = 0;
    while (table.has_room() && add(table, number(count), 0)) ++count;
    CHECK(table.bytes() <= bytes);
    CHECK(table.size() == count);
    CHECK(table.insert(number(count)) == nullptr);
    CHECK(table.size() == count);
    for (std::uint32_t i = 0; i < count; ++i) CHECK(table.find(number(i)) != nullptr);
    return count;
  };
  CHECK(capacity(0) == 0);
  CHECK(capacity(511) == 0);
  CHECK(capacity(512) == 14);
  CHECK(capacity(1023) == 14);
  CHECK(capacity(1024) == 28);
  CHECK(capacity(100'000) == 1792);
}

TEST_CASE("bucket table: a slot that is emptied and taken again holds nothing of before") {
  BucketTable table(plenty, plenty_of_bytes);
  REQUIRE(add(table, number(1), 11));
  table.erase(*table.find(number(1)));
  CHECK(table.find(number(1)) == nullptr);
  CHECK(table.size() == 0);
  Slot* const slot = table.insert(number(1));
  REQUIRE(slot != nullptr);
  CHECK(slot->definition == 0);
  CHECK(slot->client == number(1));
}
