// SPDX-License-Identifier: MIT
#include "../../bindings/heap.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "catch.hpp"
#include "random.hpp"

namespace {

using tierlimit::bindings::Heap;

constexpr std::size_t most_bytes = 256 << 10;
alignas(16) std::array<char, most_bytes> arena;
std::size_t reached = 0;

// Memory of the arena, of which nothing is looked at before it was asked for.
struct Arena {
  static auto begin() { return reinterpret_cast<Heap<Arena>::Block*>(arena.data()); }
  static bool extend(const void* end) {
    const auto needed = static_cast<std::size_t>(static_cast<const char*>(end) - arena.data());
    if (needed > arena.size()) return false;
    reached = std::max(reached, needed);
    return true;
  }
};

void start_anew() {
  arena.fill(0);
  reached = 0;
}

// What was given out, with what was written into it.
struct Piece {
  unsigned char* bytes;
  std::size_t size;
  unsigned char mark;

  [[nodiscard]] bool intact() const {
    return std::all_of(bytes, bytes + size, [this](unsigned char byte) { return byte == mark; });
  }
};

}  // namespace

TEST_CASE("heap: what is given out stays apart, and what was given back is one piece again") {
  start_anew();
  Heap<Arena> heap;
  Random random(20'261);
  std::vector<Piece> pieces;
  unsigned char mark = 0;
  std::size_t refused = 0;
  for (int round = 0; round < 40'000; ++round) {
    if (pieces.empty() || random.below(100) < 55) {
      const std::size_t size = random.below(20) == 0 ? random.below(20'000) : random.below(300);
      const bool aligned = random.below(4) == 0;
      void* const memory = aligned ? heap.allocate_aligned(64, size) : heap.allocate(size);
      if (memory == nullptr) {
        ++refused;
        // Half of it goes.
        for (std::size_t left = pieces.size() / 2; left > 0; --left) {
          std::swap(pieces[random.below(pieces.size())], pieces.back());
          REQUIRE(pieces.back().intact());
          heap.release(pieces.back().bytes);
          pieces.pop_back();
        }
      } else {
        REQUIRE(reinterpret_cast<std::uintptr_t>(memory) % (aligned ? 64 : 8) == 0);
        const Piece piece{static_cast<unsigned char*>(memory), size, ++mark};
        std::memset(piece.bytes, piece.mark, piece.size);
        pieces.push_back(piece);
      }
    } else {
      std::swap(pieces[random.below(pieces.size())], pieces.back());
      REQUIRE(pieces.back().intact());
      heap.release(pieces.back().bytes);
      pieces.pop_back();
    }
    if (round % 16 == 0) REQUIRE(heap.sound());
  }
  REQUIRE(refused > 10);
  for (const Piece& piece : pieces) {
    REQUIRE(piece.intact());
    heap.release(piece.bytes);
  }
  REQUIRE(heap.sound());
  // All of it is to be had at once.
  REQUIRE(heap.allocate(reached - 2 * sizeof(Heap<Arena>::Block)) != nullptr);
}

TEST_CASE("heap: what cannot be had changes nothing, however large") {
  start_anew();
  Heap<Arena> heap;
  REQUIRE(heap.allocate(most_bytes) == nullptr);
  REQUIRE(heap.sound());
  void* const kept = heap.allocate(100);
  REQUIRE(kept != nullptr);
  for (const std::size_t size :
       {std::size_t{1} << 30, (std::size_t{1} << 30) + 1, ~std::size_t{0} - 64, ~std::size_t{0}}) {
    REQUIRE(heap.allocate(size) == nullptr);
  }
  REQUIRE(heap.allocate_aligned(64, most_bytes) == nullptr);
  heap.release(nullptr);
  REQUIRE(heap.sound());
  heap.release(kept);
  REQUIRE(heap.sound());
}

TEST_CASE("heap: however little is wanted at a round address, it is there") {
  for (std::size_t before = 0; before < 16; ++before) {
    start_anew();
    Heap<Arena> heap;
    REQUIRE(heap.allocate(8 * before) != nullptr);
    for (std::size_t size = 0; size < 100; ++size) {
      void* const memory = heap.allocate_aligned(64, size);
      REQUIRE(memory != nullptr);
      std::memset(memory, 1, size);
      REQUIRE(heap.sound());
    }
  }
}

TEST_CASE("heap: memory that was given back is used before there is more of it") {
  start_anew();
  Heap<Arena> heap;
  std::vector<void*> pieces;
  for (int i = 0; i < 100; ++i) pieces.push_back(heap.allocate(1000));
  const std::size_t before = reached;
  for (int round = 0; round < 10; ++round) {
    for (void*& piece : pieces) {
      heap.release(piece);
      piece = heap.allocate(1000);
    }
  }
  // Two neighbours that went make room for one that is larger.
  heap.release(pieces[10]);
  heap.release(pieces[11]);
  REQUIRE(heap.allocate(2000) != nullptr);
  REQUIRE(reached == before);
  REQUIRE(heap.sound());
}
