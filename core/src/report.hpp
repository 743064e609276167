// SPDX-License-Identifier: MIT
/// \file
/// Errors that know their place in a JSON text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "tierlimit/block.hpp"
#include "tierlimit/error.hpp"
#include "tierlimit/list.hpp"

namespace tierlimit {

/// A place in the document as RFC 6901 names it, linked from the inside out. No path: the document itself.
struct Path {
  const Path* parent = nullptr;
  std::string_view name;  ///< Of the member; without data for an element of an array, which `index` numbers.
  std::uint32_t index = 0;
};

/// Where something stands in the text, as people and editors count.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// A piece of the text to show in a message, cut when it is long.
class Excerpt {
 public:
  explicit Excerpt(std::string_view text) noexcept;
  operator std::string_view() const noexcept { return {chars_, size_}; }

 private:
  static constexpr std::size_t longest = 40;
  char chars_[longest + 3];
  std::size_t size_;
};

/// A whole number in digits.
class Digits {
 public:
  explicit Digits(std::uint32_t number) noexcept;
  operator std::string_view() const noexcept { return {chars_ + begin_, sizeof chars_ - begin_}; }

 private:
  char chars_[10];
  std::size_t begin_ = sizeof chars_;
};

/// Makes the errors found in one text, and watches over the memory that reading it takes.
class Report {
 public:
  /// The text stays with the caller.
  explicit Report(std::string_view text) noexcept : text_(text) {}

  /// Appends to `errors` what was found at `offset`. In the sentence each % stands for the next of the values and @ for
  /// the name that the path ends with.
  void add(List<Error>& errors, ErrorCode code, const Path* path, std::size_t offset, const char* sentence,
           const std::string_view* values);
  void add(List<Error>& errors, ErrorCode code, const Path* path, std::size_t offset, const char* sentence,
           std::initializer_list<std::string_view> values) {
    add(errors, code, path, offset, sentence, values.begin());
  }

  [[nodiscard]] Position position(std::size_t offset) noexcept;

  /// Whether so many bytes can be had now (see memory.hpp). If not, the report is starved.
  [[nodiscard]] bool available(std::size_t bytes) noexcept;
  /// Memory ran out, so whatever was found is incomplete. Nothing is added any more.
  [[nodiscard]] bool starved() const noexcept { return starved_; }
  void starve() noexcept { starved_ = true; }

 private:
  std::string_view text_;
  std::size_t bytes_ = 0;  // of all errors so far
  bool starved_ = false;
  Block<Position> marks_;  // positions at every so many bytes, so that many errors in a long text stay cheap
  std::size_t mark_count_ = 0;
};

}  // namespace tierlimit
