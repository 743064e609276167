// SPDX-License-Identifier: MIT
// Natural numbers of any size: just what reading a limit exactly needs, by the schoolbook.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tierlimit {

class Natural {
 public:
  Natural() = default;
  explicit Natural(std::uint64_t value);
  /// Decimal digits and nothing else.
  static Natural from_digits(std::string_view digits);

  [[nodiscard]] bool zero() const noexcept { return limbs_.empty(); }
  [[nodiscard]] std::size_t bit_length() const noexcept;
  /// The value, or UINT64_MAX where it is larger.
  [[nodiscard]] std::uint64_t saturated() const noexcept;

  void multiply(std::uint32_t factor, std::uint32_t carry = 0);
  void multiply_wide(std::uint64_t factor);
  void multiply_power_of_ten(std::uint64_t exponent);
  void shift_left(std::size_t bits);
  /// Takes away `other`, which is not larger.
  void subtract(const Natural& other) noexcept;
  /// Becomes the remainder of the division by `divisor` (not zero); returns the quotient where it is below 2^63, and
  /// some number not below 2^63 where it is not.
  std::uint64_t divide(const Natural& divisor);

  [[nodiscard]] std::strong_ordering compare(const Natural& other) const noexcept;

 private:
  void trim() noexcept;
  void halve() noexcept;

  std::vector<std::uint32_t> limbs_;  // least significant first, no leading zeros
};

}  // namespace tierlimit
