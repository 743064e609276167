// SPDX-License-Identifier: MIT
#include "natural.hpp"

#include <bit>
#include <limits>

namespace tierlimit {

Natural::Natural(std::uint64_t value) {
  for (; value != 0; value >>= 32) limbs_.push_back(static_cast<std::uint32_t>(value));
}

Natural Natural::from_digits(std::string_view digits) {
  Natural result;
  for (const char digit : digits) result.multiply(10, static_cast<std::uint32_t>(digit - '0'));
  return result;
}

std::size_t Natural::bit_length() const noexcept {
  return zero() ? 0 : limbs_.size() * 32 - static_cast<std::size_t>(std::countl_zero(limbs_.back()));
}

std::uint64_t Natural::saturated() const noexcept {
  if (limbs_.size() > 2) return std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) value = value << 32 | limbs_[i];
  return value;
}

void Natural::multiply(std::uint32_t factor, std::uint32_t carry) {
  std::uint64_t sum = carry;
  for (std::uint32_t& limb : limbs_) {
    sum += std::uint64_t{limb} * factor;
    limb = static_cast<std::uint32_t>(sum);
    sum >>= 32;
  }
  if (sum != 0) limbs_.push_back(static_cast<std::uint32_t>(sum));
  trim();
}

void Natural::multiply_wide(std::uint64_t factor) {
  Natural high = *this;
  high.multiply(static_cast<std::uint32_t>(factor >> 32));
  high.shift_left(32);
  multiply(static_cast<std::uint32_t>(factor));
  if (limbs_.size() < high.limbs_.size()) limbs_.resize(high.limbs_.size());
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    sum += std::uint64_t{limbs_[i]} + (i < high.limbs_.size() ? high.limbs_[i] : 0);
    limbs_[i] = static_cast<std::uint32_t>(sum);
    sum >>= 32;
  }
  if (sum != 0) limbs_.push_back(static_cast<std::uint32_t>(sum));
}

void Natural::multiply_power_of_ten(std::uint64_t exponent) {
  for (; exponent >= 9; exponent -= 9) multiply(1'000'000'000);
  for (; exponent > 0; --exponent) multiply(10);
}

void Natural::shift_left(std::size_t bits) {
  if (zero()) return;
  multiply(std::uint32_t{1} << bits % 32);
  limbs_.insert(limbs_.begin(), bits / 32, 0);
}

void Natural::subtract(const Natural& other) noexcept {
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < limbs_.size(); ++i) {
    const std::uint64_t take = borrow + (i < other.limbs_.size() ? other.limbs_[i] : 0);
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
  if (limbs_.size() != other.limbs_.size()) return limbs_.size() <=> other.limbs_.size();
  for (std::size_t i = limbs_.size(); i-- > 0;) {
    if (limbs_[i] != other.limbs_[i]) return limbs_[i] <=> other.limbs_[i];
  }
  return std::strong_ordering::equal;
}

void Natural::trim() noexcept {
  while (!limbs_.empty() && limbs_.back() == 0) limbs_.pop_back();
}

void Natural::halve() noexcept {
  std::uint32_t carry = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) {
    const std::uint32_t limb = limbs_[i];
    limbs_[i] = limb >> 1 | carry << 31;
    carry = limb & 1;
  }
  trim();
}

}  // namespace tierlimit
