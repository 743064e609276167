// SPDX-License-Identifier: MIT
/// \file
/// JSON text read into a flat document, and errors placed in that text. Internal to core/src.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tierlimit/error.hpp"

namespace tierlimit::json {

/// Containers may be nested this deep; the outermost one is level 1.
inline constexpr std::size_t max_depth = 32;

/// A place in the document as RFC 6901 names it, linked from the inside out: `/tiers/free`.
struct Path {
  const Path* parent = nullptr;  ///< Null for the document itself.
  std::string_view name;         ///< Of the member; without data for an element of an array, which `index` numbers.
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
  operator std::string_view() const noexcept { return {chars_, size_}; }  // NOLINT: it is a piece of text

 private:
  static constexpr std::size_t longest = 40;
  char chars_[longest + 3];
  std::size_t size_;
};

/// A whole number in digits.
class Digits {
 public:
  explicit Digits(std::uint32_t number) noexcept;
  operator std::string_view() const noexcept { return {first_, static_cast<std::size_t>(end() - first_)}; }  // NOLINT

 private:
  [[nodiscard]] const char* end() const noexcept { return chars_ + sizeof chars_; }
  char chars_[10];
  char* first_;
};

/// Owned by std::malloc: `new` ends the program when the WebAssembly build, which has no exceptions, is out of memory.
template <class T>
class Block {
 public:
  /// Uninitialised room for `count` of them. False when there is no memory.
  [[nodiscard]] bool allocate(std::size_t count) noexcept {
    if (count > SIZE_MAX / sizeof(T)) return false;
    memory_.reset(std::malloc(count == 0 ? 1 : count * sizeof(T)));
    return memory_ != nullptr;
  }
  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(memory_.get()); }
  T& operator[](std::size_t index) const noexcept { return data()[index]; }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
};

/// Makes errors that know their place in the text, and watches over memory.
///
/// Strings and vectors cannot report that memory is out (see `Block`). Whoever is about to let them grow asks
/// `available` first; once that fails, `starved` stays true and nothing more is added.
class Reporter {
 public:
  /// The text stays with the caller.
  explicit Reporter(std::string_view text) noexcept : text_(text) {}

  /// Appends to `list` the error found at `offset`, with `sentence` joined to its message.
  void add(std::vector<Error>& list, ErrorCode code, const Path* path, std::size_t offset,
           std::initializer_list<std::string_view> sentence);

  [[nodiscard]] Position position(std::size_t offset) noexcept;

  /// Whether so many bytes could be had right now.
  [[nodiscard]] bool available(std::size_t bytes) noexcept;
  [[nodiscard]] bool starved() const noexcept { return starved_; }
  void starve() noexcept { starved_ = true; }

 private:
  std::string_view text_;
  std::size_t reported_ = 0;  // bytes of all errors so far
  bool starved_ = false;
  Block<Position> marks_;  // positions at every so many bytes, so that many errors in a long text stay cheap
  std::size_t mark_count_ = 0;
};

enum class Kind : std::uint8_t { null, boolean, number, string, object, array, name };

/// A value or a member's name. Nodes stand in the order of the text: a member's name before its value, a container
/// before its content.
struct Node {
  std::string_view text;  ///< What a string or name says, escapes resolved; else the source text (container: bracket).
  std::uint32_t offset;   ///< Where it starts in the text.
  std::uint32_t next;     ///< Value: index of the first node that is not part of it. Name: not for use.
  Kind kind;
};

/// A JSON text (RFC 8259), read and checked. Refers to the text, which has to outlive it.
class Document {
 public:
  /// False when the text is refused; `errors` has the reasons, unless `reporter` is starved.
  [[nodiscard]] bool read(std::string_view text, Reporter& reporter, std::vector<Error>& errors);

  [[nodiscard]] const Node& operator[](std::uint32_t index) const noexcept { return nodes_[index]; }

  /// The source text of a value or name, for a message; a container's is not shown whole.
  [[nodiscard]] Excerpt source(std::uint32_t index) const noexcept;

  /// The names of an object's members in order of their bytes, `count` of them. Valid until the next call.
  [[nodiscard]] const std::uint32_t* sorted_names(std::uint32_t object, std::uint32_t& count) const noexcept;

 private:
  bool scan_encoding(Reporter& reporter, std::vector<Error>& errors) const;
  bool parse(Reporter& reporter, std::vector<Error>& errors);
  void check_names_and_numbers(Reporter& reporter, std::vector<Error>& errors);

  std::string_view text_;
  std::uint32_t node_count_ = 0;
  Block<Node> nodes_;
  Block<char> strings_;         // those that the source spells with escapes
  Block<std::uint32_t> order_;  // room to sort the names of the largest object
};

}  // namespace tierlimit::json
