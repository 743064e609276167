// SPDX-License-Identifier: MIT
/// \file
/// When how many tokens were charged.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tierlimit {

/// The charges in one client's sliding window, the oldest first: 8 bytes for each microsecond in which there was any.
/// A ring in a block of memory of its own, which doubles as it fills.
class WindowLog {
 public:
  /// The bytes of a log with room for so many.
  [[nodiscard]] static std::uint64_t bytes(std::uint32_t capacity) noexcept {
    return sizeof(WindowLog) + capacity * sizeof(std::uint64_t);
  }
  /// Null where there is no memory.
  [[nodiscard]] static WindowLog* make(std::uint32_t capacity) noexcept;
  static void free(WindowLog* log) noexcept;
  /// Takes what is in another log, which goes. Not where there is less room.
  void take_over(WindowLog* log) noexcept;

  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
  /// Tokens of all entries.
  [[nodiscard]] std::int64_t total() const noexcept { return total_; }

  /// Of the entry `index`, from 0, the oldest.
  [[nodiscard]] std::int64_t time(std::uint32_t index) const noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(base_) + (entry(index) >> token_bits));
  }
  [[nodiscard]] std::int64_t tokens(std::uint32_t index) const noexcept {
    return static_cast<std::int64_t>(entry(index) & most_tokens);
  }

  /// Forgets the oldest `count` entries.
  void drop(std::uint32_t count) noexcept;
  /// Whether a charge at `now` needs an entry that there is no room for.
  [[nodiscard]] bool full(std::int64_t now) const noexcept {
    return size_ == capacity_ && (size_ == 0 || time(size_ - 1) != now);
  }
  /// Adds a charge, not earlier than the last and within 2^49 microseconds of the oldest. Not where it is full.
  void add(std::int64_t now, std::int64_t tokens) noexcept;
  /// Takes up to so many tokens from one entry; how many it had.
  std::int64_t take(std::uint32_t index, std::int64_t tokens) noexcept;
  /// Forgets the entries of which all has been taken.
  void tidy() noexcept;

 private:
  static constexpr int token_bits = 14;  // A sliding window has 10,000 at the most.
  static constexpr std::uint64_t most_tokens = (std::uint64_t{1} << token_bits) - 1;

  explicit WindowLog(std::uint32_t capacity) noexcept : capacity_(capacity) {}
  [[nodiscard]] const std::uint64_t& entry(std::uint32_t index) const noexcept {
    index += first_;
    return reinterpret_cast<const std::uint64_t*>(this + 1)[index < capacity_ ? index : index - capacity_];
  }
  [[nodiscard]] std::uint64_t& entry(std::uint32_t index) noexcept {
    return const_cast<std::uint64_t&>(static_cast<const WindowLog*>(this)->entry(index));
  }

  std::int64_t base_ = 0;  // Entries count their microseconds from here.
  std::int64_t total_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_;
};

}  // namespace tierlimit
