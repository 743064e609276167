// SPDX-License-Identifier: MIT
/// \file
/// Errors as values. Nothing in tierlimit throws.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "tierlimit/list.hpp"

namespace tierlimit {

/// Why something was refused. `to_string` gives the spelling that callers of every language see.
enum class ErrorCode : std::uint8_t {
  // The policy text as a whole
  syntax,               ///< Not JSON.
  invalid_utf8,         ///< Bytes that are not UTF-8.
  lone_surrogate,       ///< Half of a UTF-16 pair, escaped or not.
  too_deep,             ///< More than 32 levels of nesting.
  number_out_of_range,  ///< A number beyond the range of a double.
  duplicate_member,     ///< A member name given twice in one object, however it is spelled.
  // What the policy text says
  unknown_member,       ///< A member that means nothing here.
  missing_member,       ///< A member that has to be there.
  conflicting_members,  ///< Two members of which only one may be there.
  wrong_type,           ///< A string where a number belongs, and the like.
  invalid_value,        ///< The right type, but a value that breaks a rule.
  unsupported,          ///< A feature of the policy format that this version does not have.
  not_representable,    ///< A limit whose numbers do not fit the exact arithmetic.
  unknown_tier,         ///< A client assigned to a tier that is not in the document.
  rate_rounded,         ///< A warning: a limit is in force with a number that was rounded.
  // Running
  out_of_memory,     ///< Memory could not grow; nothing changed.
  clock,             ///< A clock reading earlier than the bucket's last touch.
  invalid_time,      ///< A clock reading that is not finite or not within 2^53 microseconds of zero.
  invalid_cost,      ///< A cost that is not a whole number from 1 to 2^53-1.
  not_seeded,        ///< A decision before the limiter was given its secret.
  no_policies,       ///< A decision before any policy document was accepted.
  invalid_snapshot,  ///< Bytes that are no snapshot, or not as it was written.
};

/// The code in kebab case: `duplicate-member`.
[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;

/// What went wrong, and where.
struct Error {
  using MovesAsBytes = void;

  ErrorCode code = ErrorCode::syntax;
  /// One sentence that names the value and the rule.
  Text message;
  /// The place in the policy document as a JSON Pointer (RFC 6901): `/tiers/free/capacity`. Empty when there is none.
  Text path;
  /// Line in the policy text, from 1; LF, CR and CRLF each end a line. 0 when the error has no place in a text.
  std::uint32_t line = 0;
  /// Column in the line, from 1, in UTF-16 code units (what editors and JavaScript count). 0 as above.
  std::uint32_t column = 0;
};

/// Either a value or what stood in its way.
template <class T, class E = Error>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}
  Result(E error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }

  /// Only when `ok()`.
  [[nodiscard]] T& value() noexcept { return *value_; }
  [[nodiscard]] const T& value() const noexcept { return *value_; }
  /// When `ok()`, nothing but an empty one.
  [[nodiscard]] E& error() noexcept { return error_; }
  [[nodiscard]] const E& error() const noexcept { return error_; }

 private:
  std::optional<T> value_;
  E error_;
};

}  // namespace tierlimit
