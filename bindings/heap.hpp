// SPDX-License-Identifier: MIT
/// \file
/// The memory of the module, given out in pieces.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tierlimit::bindings {

/// What malloc and free need: blocks that lie one behind the other, each with its size and that of the one before, so
/// that a free one grows together with its neighbours. Free blocks are listed by the power of two that is in their
/// size. What is asked for comes from the first block that is large enough among a few of its own list, or else from
/// any of a list above, where all are: no call takes longer for what others have left. Memory ends with a mark, a block
/// of no size, which is always in use.
///
/// `Memory` has static functions: `begin()`, where it starts, filled with zeros, and `extend(end)`, whether it reaches
/// so far now. Of constant initialization; there is no need to take it down.
template <class Memory>
class Heap {
 public:
  /// So many bytes, a multiple of eight away from zero; null where memory cannot be extended.
  void* allocate(std::size_t bytes) {
    if (bytes > most) return nullptr;
    const std::uint32_t size = size_for(bytes);
    Block* block = find(size);
    if (block == nullptr) {
      if (!extend(size)) return nullptr;
      block = find(size);
    }
    take(block);
    block->size |= in_use;
    trim(block, size);
    return at(block, head);
  }

  /// The same, a multiple of that power of two away from zero.
  void* allocate_aligned(std::size_t alignment, std::size_t bytes) {
    if (bytes > most) return nullptr;
    void* const memory = allocate(size_for(bytes) + alignment + sizeof(Block));
    if (memory == nullptr) return nullptr;
    // What lies before the first such place that leaves room for a block goes back as one.
    const auto from = reinterpret_cast<std::uintptr_t>(memory);
    const auto gap = static_cast<std::uint32_t>(((from + sizeof(Block) + alignment - 1) & ~(alignment - 1)) - from);
    Block* const front = block_of(memory);
    Block* const block = at(front, gap);
    block->size = front->size - gap;
    after(block)->size_before = block->size - in_use;
    put(front, gap);
    trim(block, size_for(bytes));
    return at(block, head);
  }

  /// Takes back what one of these has given; null is nothing.
  void release(void* memory) {
    if (memory == nullptr) return;
    Block* const block = block_of(memory);
    Block* const next = after(block);
    std::uint32_t size = block->size - in_use;
    if ((next->size & in_use) == 0) {
      take(next);
      size += next->size;
    }
    put(block, size);
  }

  /// Whether all that it knows of its blocks fits together. For tests.
  [[nodiscard]] bool sound() const {
    if (end_ == nullptr) return filled_ == 0;
    std::uint32_t before = 0;
    std::size_t unused = 0;
    bool was_free = false;
    for (Block* block = Memory::begin(); block != end_; block = after(block)) {
      const bool free = (block->size & in_use) == 0;
      if (block->size_before != before || (free && was_free) || block > end_) return false;
      before = block->size & ~in_use;
      was_free = free;
      unused += free ? 1 : 0;
    }
    for (std::uint32_t list = 0; list < 32; ++list) {
      if ((lists_[list] == nullptr) != ((filled_ >> list & 1) == 0)) return false;
      const Block* previous = nullptr;
      for (const Block* block = lists_[list]; block != nullptr; previous = block, block = block->next, --unused) {
        if (list_of(block->size) != list || block->previous != previous || (block->size & in_use) != 0) return false;
      }
    }
    return end_->size == in_use && end_->size_before == before && unused == 0;
  }

  struct Block {
    std::uint32_t size_before;  // Of the block that lies before this one; 0: this is the first.
    std::uint32_t size;         // Of this one; odd while it is in use.
    // Only of a free one; else these bytes and those behind them are the user's.
    Block* next;
    Block* previous;
  };

 private:
  static constexpr std::uint32_t head = offsetof(Block, next);
  static constexpr std::uint32_t in_use = 1;
  static constexpr std::uint32_t granule = 8;
  static constexpr std::uint32_t most = 1U << 30;
  static constexpr int tries = 32;
  static_assert(sizeof(Block) % granule == 0 && head % granule == 0);

  static Block* at(Block* block, std::uint32_t distance) {
    return reinterpret_cast<Block*>(reinterpret_cast<char*>(block) + distance);
  }
  static Block* after(Block* block) { return at(block, block->size & ~in_use); }
  static Block* before(Block* block) {
    return reinterpret_cast<Block*>(reinterpret_cast<char*>(block) - block->size_before);
  }
  static Block* block_of(void* memory) { return reinterpret_cast<Block*>(static_cast<char*>(memory) - head); }
  static std::uint32_t size_for(std::size_t bytes) {
    const auto size = static_cast<std::uint32_t>(bytes + head + granule - 1) & ~(granule - 1);
    return size < sizeof(Block) ? std::uint32_t{sizeof(Block)} : size;
  }
  static std::uint32_t list_of(std::uint32_t size) { return 31 - static_cast<std::uint32_t>(__builtin_clz(size)); }

  [[gnu::noinline]] void take(Block* block) {
    const std::uint32_t list = list_of(block->size);
    if (block->next != nullptr) block->next->previous = block->previous;
    (block->previous != nullptr ? block->previous->next : lists_[list]) = block->next;
    if (lists_[list] == nullptr) filled_ &= ~(1U << list);
  }

  // A free block of that size there, together with a free one before it. The one behind it is in use.
  [[gnu::noinline]] void put(Block* block, std::uint32_t size) {
    Block* const neighbour = before(block);
    if ((neighbour->size & in_use) == 0 && neighbour != block) {
      take(neighbour);
      size += neighbour->size;
      block = neighbour;
    }
    block->size = size;
    after(block)->size_before = size;
    const std::uint32_t list = list_of(size);
    block->previous = nullptr;
    block->next = lists_[list];
    if (block->next != nullptr) block->next->previous = block;
    lists_[list] = block;
    filled_ |= 1U << list;
  }

  Block* find(std::uint32_t size) {
    const std::uint32_t list = list_of(size);
    Block* block = lists_[list];
    for (int left = tries; block != nullptr && left > 0; --left, block = block->next) {
      if (block->size >= size) return block;
    }
    const std::uint32_t larger = filled_ & (~1U << list);
    return larger == 0 ? nullptr : lists_[__builtin_ctz(larger)];
  }

  // What a block in use has beyond that size becomes a free one, where it is enough for one.
  void trim(Block* block, std::uint32_t size) {
    const std::uint32_t left = block->size - in_use - size;
    if (left < sizeof(Block)) return;
    block->size = size | in_use;
    Block* const rest = after(block);
    rest->size_before = size;
    rest->size = left | in_use;
    release(at(rest, head));
  }

  // At the end comes as much as is missing there.
  bool extend(std::uint32_t size) {
    if (end_ == nullptr) {
      if (!Memory::extend(at(Memory::begin(), sizeof(Block)))) return false;
      end_ = Memory::begin();
      end_->size = in_use;
    }
    const Block* const last = before(end_);
    if ((last->size & in_use) == 0) size -= last->size;
    if (!Memory::extend(at(end_, size + sizeof(Block)))) return false;
    Block* const made = end_;
    end_ = at(end_, size);
    end_->size = in_use;
    put(made, size);
    return true;
  }

  Block* lists_[32] = {};
  std::uint32_t filled_ = 0;  // The lists that are not empty.
  Block* end_ = nullptr;      // The mark.
};

}  // namespace tierlimit::bindings
