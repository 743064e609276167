// SPDX-License-Identifier: MIT
/// \file
/// A number exactly as its decimal text says it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tierlimit {

/// `digits` times ten to the `exponent`: what a decimal text says, before any rounding, so that 0.1 is one tenth.
///
/// Digits past the 800th significant one are not kept: no number that needs them fits a limit exactly, and the double
/// nearest to a number is settled by its first 767 (a last digit 1 stands for whatever was cut off).
class Decimal {
 public:
  /// Zero.
  Decimal() noexcept {}  // NOLINT(*-use-equals-default)
  /// A whole number.
  explicit Decimal(std::uint64_t whole);

  /// Reads a number as JSON spells it (RFC 8259: `-0`, `12`, `0.5`, `1e3`, `1.5E-7`). Anything else is nullopt.
  [[nodiscard]] static std::optional<Decimal> parse(std::string_view text);

  /// Below zero. Minus zero is zero.
  [[nodiscard]] bool negative() const noexcept { return negative_; }
  [[nodiscard]] bool zero() const noexcept { return size_ == 0; }
  /// Whether the number is one that rounds to a finite double.
  [[nodiscard]] bool within_double_range() const;

  /// Significant digits, without leading or trailing zeros; empty for zero.
  [[nodiscard]] std::string_view digits() const noexcept { return {digits_.data(), size_}; }
  /// Power of ten of the last digit.
  [[nodiscard]] std::int64_t exponent() const noexcept { return exponent_; }

 private:
  static constexpr std::size_t kept_digits = 800;

  std::array<char, kept_digits + 1> digits_;
  std::uint32_t size_ = 0;
  std::int64_t exponent_ = 0;
  bool negative_ = false;
};

}  // namespace tierlimit
