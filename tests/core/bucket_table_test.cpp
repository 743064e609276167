// SPDX-License-Identifier: MIT
#include "tierlimit/bucket_table.hpp"

#include <algorithm>
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

// As a hash would make them: evenly spread over segments and over the places in them.
Fingerprint number(std::uint32_t i) { return {i * 0x9e3779b1, i * 0x85ebca6b, i}; }

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
  table.each([&](const Slot& slot) { used += slot.definition != 0 ? 1U : 0U; });
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
  CHECK(table.bytes() == 0);
  CHECK(table.has_room(number(1)));
  table.each([](const Slot&) { FAIL(); });
  table.near(number(1), 8, [](const Slot&) {
    FAIL();
    return true;
  });
}

TEST_CASE("bucket table: keeps many apart while it grows") {
  BucketTable table(plenty, plenty_of_bytes);
  Expected expected;
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    REQUIRE(table.find(number(i)) == nullptr);
    REQUIRE(add(table, number(i), i));
    expected.emplace(number(i), i);
  }
  CHECK(holds(table, expected));
  CHECK(table.find(number(100'000)) == nullptr);
}

TEST_CASE("bucket table: what a client takes stays the same while the table grows") {
  BucketTable table(plenty, plenty_of_bytes);
  double least = 1e9;
  double most = 0;
  for (std::uint32_t i = 0; i < 1'000'000; ++i) {
    REQUIRE(add(table, number(i), i));
    if (i < 20'000) continue;
    const double bytes = static_cast<double>(table.bytes()) / (i + 1);
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  CAPTURE(least, most);
  CHECK(least > 53);
  CHECK(most < 62);
}

TEST_CASE("bucket table: no insertion moves more than a segment") {
  BucketTable table(plenty, plenty_of_bytes);
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < 300'000; ++i) {
    REQUIRE(add(table, number(i), i));
    // One more segment, or the directory twice as large beside it.
    const std::uint64_t directory = table.bytes() / 32;
    REQUIRE(table.bytes() - bytes <= 64 + 512 * 32 + directory);
    bytes = table.bytes();
  }
}

TEST_CASE("bucket table: clients that no number of segments would part are refused, not given all memory") {
  BucketTable table;
  std::uint32_t count = 0;
  while (count < 100'000 && add(table, {7, count, count}, 0)) ++count;
  CHECK(count == 416);
  CHECK(table.size() == count);
  CHECK(table.bytes() < 1'000'000);
  for (std::uint32_t i = 0; i < count; ++i) CHECK(table.find({7, i, i}) != nullptr);
  CHECK_FALSE(table.has_room({7, count, count}));
  // Others find their place, and whoever comes in place of another.
  CHECK(add(table, {0xf0000000, 1, 2}, 0));
  table.erase(*table.find({7, 3, 3}));
  CHECK(add(table, {7, count, count}, 0));
}

TEST_CASE("bucket table: does what a map does, whatever falls together") {
  struct Shape {
    const char* name;
    std::uint32_t homes;     // Clients come from so many places in a row …
    std::uint32_t first;     // … from here on,
    std::uint32_t segments;  // in so many segments, if there are as many,
    std::uint32_t clients;
    std::uint32_t most;  // and the table holds no more than this.
  };
  const Shape shape = GENERATE(Shape{"all at one place", 1, 9, 1, 30, plenty},    //
                               Shape{"all at the last place", 1, 15, 1, 13, 13},  //
                               Shape{"around the end of 16", 4, 14, 1, 26, 13},   //
                               Shape{"around the end of 64", 6, 61, 1, 104, 52},  //
                               Shape{"around the end while it grows", 5, 0xfffffffe, 1, 200, plenty},
                               Shape{"everywhere in 16", 16, 0, 1, 40, 13},                    //
                               Shape{"around the end of segments", 40, 490, 16, 700, plenty},  //
                               Shape{"one place of many segments", 1, 77, 64, 2'000, plenty},
                               Shape{"spread out", 1 << 16, 0, 1 << 16, 3'000, plenty});
  CAPTURE(shape.name);
  Random random(1);
  BucketTable table(shape.most, plenty_of_bytes);
  Expected expected;
  for (int i = 0; i < 40'000; ++i) {
    const auto which = static_cast<std::uint32_t>(random.below(shape.clients));
    // The same place modulo the segment's size, though not the same number.
    const std::uint32_t segment = which % shape.segments * (0xffff'ffff / shape.segments);
    const Fingerprint client{segment, shape.first + which % shape.homes + (which << 20 & 0xfff00000), which / 3};
    const auto known = expected.find(client);
    Slot* const slot = table.find(client);
    REQUIRE((slot != nullptr) == (known != expected.end()));
    if (slot == nullptr) {
      const bool room = expected.size() < shape.most;
      REQUIRE(table.has_room(client) == room);
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
  CHECK_FALSE(table.has_room(number(500)));
  CHECK(table.insert(number(100)) == nullptr);
  CHECK(table.insert(number(101)) == nullptr);
  CHECK(table.size() == 100);
  CHECK(table.find(number(100)) == nullptr);
  for (std::uint32_t i = 0; i < 100; ++i) CHECK(table.find(number(i))->state.balance == i);
  table.erase(*table.find(number(7)));
  CHECK(table.has_room(number(500)));
  CHECK(add(table, number(100), 100));
  CHECK_FALSE(table.has_room(number(500)));

  BucketTable none(0, plenty_of_bytes);
  CHECK_FALSE(none.has_room(number(1)));
  CHECK(none.insert(number(1)) == nullptr);
  CHECK(none.bytes() == 0);
}

TEST_CASE("bucket table: is bounded in bytes") {
  const auto capacity = [](std::uint64_t bytes) {
    BucketTable table(plenty, bytes);
    std::uint32_t count = 0;
    while (table.has_room(number(count)) && add(table, number(count), 0)) ++count;
    CHECK(table.bytes() <= bytes);
    CHECK(table.size() == count);
    CHECK(table.insert(number(count)) == nullptr);
    CHECK(table.size() == count);
    for (std::uint32_t i = 0; i < count; ++i) CHECK(table.find(number(i)) != nullptr);
    return count;
  };
  // A header, the slots, and what points at them.
  CHECK(capacity(0) == 0);
  CHECK(capacity(64 + 512 + 7) == 0);
  CHECK(capacity(64 + 512 + 8) == 13);
  CHECK(capacity(1024) == 13);
  CHECK(capacity(64 + 1024 + 8) == 26);
  CHECK(capacity(64 + 16384 + 8) == 416);
  CHECK(capacity(2 * (64 + 16384 + 8) - 1) == 416);
  CHECK(capacity(2 * (64 + 16384 + 8)) > 416);
  CHECK(capacity(1 << 20) > (1 << 20) / 70);
}

TEST_CASE("bucket table: a full table has room for a client once a slot near its own is emptied") {
  // Bounded by clients, and by bytes; the segments are full at different times then.
  const auto bytes = GENERATE(std::uint64_t{600}, std::uint64_t{20'000}, std::uint64_t{200'000}, plenty_of_bytes);
  const auto most = GENERATE(std::uint32_t{8}, std::uint32_t{2'000}, plenty);
  if (most == plenty && bytes == plenty_of_bytes) return;
  CAPTURE(bytes, most);
  BucketTable table(most, bytes);
  std::uint32_t turned_away = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    if (add(table, number(i), i)) continue;
    ++turned_away;
    Slot* near = nullptr;
    std::uint32_t seen = 0;
    table.near(number(i), 8, [&](Slot& slot) {
      ++seen;
      near = &slot;
      return true;
    });
    REQUIRE(seen == 8);
    table.erase(*near);
    REQUIRE(add(table, number(i), i));
    REQUIRE(table.find(number(i)) != nullptr);
  }
  CHECK(turned_away > 0);
  CHECK(table.bytes() <= bytes);
  CHECK(table.size() <= most);
}

TEST_CASE("bucket table: near is a sample of as many as there are, the same each time") {
  BucketTable table(plenty, plenty_of_bytes);
  for (std::uint32_t i = 0; i < 5'000; ++i) REQUIRE(add(table, number(i), i));
  // All but a few gone: those are found beyond the client's own segment too.
  for (std::uint32_t i = 5; i < 5'000; ++i) table.erase(*table.find(number(i)));
  for (std::uint32_t i = 0; i < 50; ++i) {
    std::map<std::uint32_t, int> seen;
    table.near(number(i), 4, [&](const Slot& slot) { return ++seen[slot.client.c] != 0; });
    CHECK(seen.size() == 4);
    std::map<std::uint32_t, int> again;
    table.near(number(i), 4, [&](const Slot& slot) { return ++again[slot.client.c] != 0; });
    CHECK(seen == again);
    seen.clear();
    table.near(number(i), 100, [&](const Slot& slot) { return ++seen[slot.client.c] != 0; });
    CHECK(seen.size() == 5);
  }
}

TEST_CASE("bucket table: the hand comes by every slot, though segments split under it") {
  BucketTable table(plenty, plenty_of_bytes);
  BucketTable::Hand hand;
  REQUIRE(add(table, number(0), 0));
  std::uint32_t rounds = 0;
  std::uint32_t next = 1;
  while (rounds < 200) {
    if (table.advance(hand)) ++rounds;
    if (next < 50'000 && table.size() < 50'000 && hand.index % 2 == 0) REQUIRE(add(table, number(next++), 0));
    // Within the table: the sanitizer would tell.
    if (table.at(hand).used()) table.at(hand).state.balance += 1;
  }
  // Now that it stands still, once a round each.
  table.each([](Slot& slot) { slot.state.balance = 0; });
  while (!table.advance(hand)) {
  }
  do {
    if (table.at(hand).used()) table.at(hand).state.balance += 1;
  } while (!table.advance(hand));
  std::uint32_t once = 0;
  table.each([&](const Slot& slot) { once += slot.state.balance == 1 ? 1U : 0U; });
  CHECK(once == table.size());
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
