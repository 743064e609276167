// SPDX-License-Identifier: MIT
#include "natural.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace tierlimit {

Natural::Natural(std::uint64_t value) {
  push(value);
  push(value >> 32);
  trim();
}

Natural Natural::from_digits(std::string_view digits) {
  Natural result;
  for (const char digit : digits) result.multiply(10, static_cast<std::uint32_t>(digit - '0'));
  return result;
}

std::size_t Natural::bit_length() const noexcept {
  return zero() ? 0 : size_ * 32 - static_cast<std::size_t>(std::countl_zero(limbs_[size_ - 1]));
}

void Natural::multiply(std::uint32_t factor, std::uint32_t carry) {
  std::uint64_t sum = carry;
  for (std::size_t i = 0; i < size_; ++i) {
    sum += std::uint64_t{limbs_[i]} * factor;
    limbs_[i] = static_cast<std::uint32_t>(sum);
    sum >>= 32;
  }
  push(sum);
  trim();
}

void Natural::multiply_wide(std::uint64_t factor) {
  Natural high = *this;
  high.multiply(static_cast<std::uint32_t>(factor >> 32));
  high.shift_left(32);
  multiply(static_cast<std::uint32_t>(factor));
  std::uint64_t sum = 0;
  while (size_ < high.size_) push(0);
  for (std::size_t i = 0; i < size_; ++i) {
    sum += std::uint64_t{limbs_[i]} + (i < high.size_ ? high.limbs_[i] : 0);
    limbs_[i] = static_cast<std::uint32_t>(sum);
    sum >>= 32;
  }
  push(sum);
  trim();
}

void Natural::multiply_power_of_ten(std::uint64_t exponent) {
  for (; exponent > 0; --exponent) multiply(10);
}

void Natural::shift_left(std::size_t bits) {
  multiply(std::uint32_t{1} << bits % 32);
  if (zero()) return;
  const std::size_t limbs = bits / 32;
  std::copy_backward(limbs_.data(), limbs_.data() + size_, limbs_.data() + size_ + limbs);
  std::fill_n(limbs_.data(), limbs, 0);
  size_ += limbs;
}

void Natural::subtract(const Natural& other) noexcept {
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < size_; ++i) {
    const std::uint64_t take = borrow + (i < other.size_ ? other.limbs_[i] : 0);
    borrow = limbs_[i] < take ? 1 : 0;
    limbs_[i] = static_cast<std::uint32_t>(limbs_[i] - take);
  }
  trim();
}

std::uint64_t Natural::divide(const Natural& divisor) {
  if (compare(divisor) < 0) return 0;
  std::size_t shift = bit_length() - divisor.bit_length();
  const bool wide = shift >= 64;
  Natural shifted = divisor;
  shifted.shift_left(shift);
  std::uint64_t quotient = 0;
  for (;; --shift) {
    quotient <<= 1;
    if (compare(shifted) >= 0) {
      subtract(shifted);
      quotient |= 1;
    }
    if (shift == 0) break;
    shifted.halve();
  }
  return wide ? std::numeric_limits<std::uint64_t>::max() : quotient;
}

std::strong_ordering Natural::compare(const Natural& other) const noexcept {
  if (size_ != other.size_) return size_ <=> other.size_;
  for (std::size_t i = size_; i-- > 0;) {
    if (limbs_[i] != other.limbs_[i]) return limbs_[i] <=> other.limbs_[i];
  }
  return std::strong_ordering::equal;
}

void Natural::push(std::uint64_t limb) noexcept { limbs_[size_++] = static_cast<std::uint32_t>(limb); }

void Natural::trim() noexcept {
  while (size_ > 0 && limbs_[size_ - 1] == 0) --size_;
}

void Natural::halve() noexcept {
  std::uint32_t carry = 0;
  for (std::size_t i = size_; i-- > 0;) {
    const std::uint32_t limb = limbs_[i];
    limbs_[i] = limb >> 1 | carry << 31;
    carry = limb & 1;
  }
  trim();
}

}  // namespace tierlimit
