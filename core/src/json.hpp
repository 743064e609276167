// SPDX-License-Identifier: MIT
/// \file
/// JSON text as a flat document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "report.hpp"
#include "tierlimit/block.hpp"
#include "tierlimit/error.hpp"
#include "tierlimit/list.hpp"

namespace tierlimit::json {

/// Containers may be nested this deep; the outermost one is level 1.
inline constexpr std::uint32_t max_depth = 32;

enum class Kind : std::uint8_t { null, boolean, number, string, object, array, name };

/// A value or a member's name.
struct Node {
  std::string_view text;  ///< What a string or name says, escapes resolved; else the source (container: its bracket).
  std::uint32_t offset;   ///< Where it starts in the source.
  std::uint32_t next;     ///< Value: the first node that is no part of it. Name: the document's own business.
  Kind kind;
};

/// A JSON text (RFC 8259), read and checked.
///
/// Nodes stand in the order of the text, from 0: a member's name before its value, a container before its content. The
/// members of object `o` are the names `n = o + 1`, then `n = doc[n + 1].next`, while `n < doc[o].next`.
class Document {
 public:
  /// Reads the text, which has to outlive the document. False when it is refused, for the reasons in `errors`; or when
  /// the report is starved.
  [[nodiscard]] bool read(std::string_view text, Report& report, List<Error>& errors);

  [[nodiscard]] const Node& operator[](std::uint32_t node) const noexcept { return nodes_[node]; }

  /// The value or name as the text spells it, to show in a message. Of a container only what it is.
  [[nodiscard]] Excerpt source(std::uint32_t node) const noexcept;

  /// What strings and names with escapes say: whoever keeps their texts for longer than the document needs it.
  [[nodiscard]] Block<char>&& strings() noexcept { return std::move(strings_); }

  /// The names of an object's members in the order of their bytes. Valid until the next call.
  [[nodiscard]] std::span<const std::uint32_t> sorted_names(std::uint32_t object) noexcept;

 private:
  bool check_encoding(Report& report, List<Error>& errors) const;
  bool parse(Report& report, List<Error>& errors);
  void check_names_and_numbers(Report& report, List<Error>& errors);
  void link_equal_names(std::uint32_t object) noexcept;

  std::string_view text_;
  std::uint32_t node_count_ = 0;
  Block<Node> nodes_;
  Block<char> strings_;         // what strings and names with escapes say
  Block<std::uint32_t> order_;  // room to sort the names of the largest object
};

}  // namespace tierlimit::json
