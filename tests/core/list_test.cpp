// SPDX-License-Identifier: MIT
#include "tierlimit/list.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "random.hpp"

using tierlimit::List;
using tierlimit::Text;

namespace {

struct Entry {
  using MovesAsBytes = void;

  Text name;
  std::uint32_t number = 7;
};

bool same(const List<Entry>& list, const std::vector<std::pair<std::string, std::uint32_t>>& expected) {
  return list.size() == expected.size() &&
         std::equal(list.begin(), list.end(), expected.begin(), [](const Entry& entry, const auto& pair) {
           return entry.name == pair.first && entry.number == pair.second;
         });
}

}  // namespace

TEST_CASE("A list does what a vector does", "[list]") {
  Random random(5);
  List<Entry> list;
  std::vector<std::pair<std::string, std::uint32_t>> vector;
  for (int i = 0; i < 20'000; ++i) {
    const auto number = static_cast<std::uint32_t>(random.below(1'000'000));
    switch (random.below(12)) {
      default:
        list.push_back({std::to_string(number), number});
        vector.emplace_back(std::to_string(number), number);
        break;
      case 0:
        list.emplace_back();
        vector.emplace_back("", 7);
        break;
      case 1:
        if (vector.empty()) break;
        list.pop_back();
        vector.pop_back();
        break;
      case 2: {
        if (vector.empty()) break;
        const auto at = static_cast<std::size_t>(random.below(vector.size()));
        list.erase(at);
        vector.erase(vector.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      }
      case 3: {
        if (vector.empty()) break;
        // Out of the list itself, which may have to move for it.
        list.push_back(list.front());
        vector.emplace_back(vector.front().first, vector.front().second);
        break;
      }
      case 4: {
        const std::size_t size = vector.size() + static_cast<std::size_t>(random.below(5));
        list.resize(size);
        vector.resize(size, {"", 7});
        break;
      }
    }
    if (random.below(2'000) == 0) {
      list.clear();
      vector.clear();
    }
    REQUIRE(list.empty() == vector.empty());
    REQUIRE(list.capacity() >= list.size());
    if (i % 100 == 0) REQUIRE(same(list, vector));
  }
  REQUIRE(same(list, vector));
}

TEST_CASE("Lists are copied, moved and swapped", "[list]") {
  List<Entry> list{{"a", 1}, {"b", 2}};
  const List<Entry> copy = list;
  list[0].name = "another";
  CHECK(same(copy, {{"a", 1}, {"b", 2}}));
  CHECK(same(list, {{"another", 1}, {"b", 2}}));

  List<Entry> moved = std::move(list);
  CHECK(same(moved, {{"another", 1}, {"b", 2}}));
  list = copy;
  CHECK(same(list, {{"a", 1}, {"b", 2}}));
  list.swap(moved);
  CHECK(same(moved, {{"a", 1}, {"b", 2}}));
  moved = {};
  CHECK(moved.empty());
  CHECK(moved.capacity() == 0);
  CHECK(list.back().number == 2);
  const List<Entry> three(3);
  CHECK(same(three, {{"", 7}, {"", 7}, {"", 7}}));
  CHECK(three.capacity() == 3);
}

TEST_CASE("A list grows to twice as many and one", "[list]") {
  List<std::uint32_t> list;
  for (const std::size_t capacity : {1u, 3u, 3u, 7u, 7u, 7u, 7u, 15u}) {
    list.push_back(1);
    CHECK(list.capacity() == capacity);
  }
  list.reserve(20);
  CHECK(list.capacity() == 20);
  list.reserve(5);
  CHECK(list.capacity() == 20);
  CHECK(list.size() == 8);
}

TEST_CASE("A text owns its bytes", "[list]") {
  std::string bytes("with a \0 in it", 14);
  Text text = bytes;
  const Text copy = text;
  bytes[0] = 'x';
  CHECK(text.view() == std::string_view("with a \0 in it", 14));
  CHECK(text == copy);
  text = "short";
  CHECK_FALSE(text == copy);
  CHECK(text == "short");
  CHECK(copy.size() == 14);
  const Text moved = std::move(text);
  CHECK(moved == "short");
  CHECK(Text().empty());
  CHECK(Text("") == "");
  Text written = Text::of_size(2);
  written.data()[0] = 'o';
  written.data()[1] = 'k';
  CHECK(written == "ok");
}
