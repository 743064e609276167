// SPDX-License-Identifier: MIT
// Natural numbers as large as reading a limit exactly needs, by the schoolbook.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tierlimit {

/// Below 2^3072. The largest numbers are the terms of a rate: tokens and seconds have up to 801 digits each and are at
/// most 10^30 apart (`Limit::make` refuses what is further), so 831 digits or 2,761 bits; looking for fractions near it
/// takes up to 150 more.
class Natural {
 public:
  Natural() = default;
  explicit Natural(std::uint64_t value);
  /// Decimal digits and nothing else.
  static Natural from_digits(std::string_view digits);

  [[nodiscard]] bool zero() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t bit_length() const noexcept;

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
  void push(std::uint64_t limb) noexcept;
  void trim() noexcept;
  void halve() noexcept;

  std::array<std::uint32_t, 96> limbs_;  // least significant first
  std::size_t size_ = 0;                 // limbs in use; the last one is not zero
};

}  // namespace tierlimit
