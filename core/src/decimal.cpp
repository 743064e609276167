// SPDX-License-Identifier: MIT
#include "tierlimit/decimal.hpp"

#include <algorithm>

#include "natural.hpp"

namespace tierlimit {
namespace {

// Exponents are held within this; a number so far out is beyond every range that is asked about.
constexpr std::int64_t exponent_bound = 1'000'000'000'000;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Takes the digits at the front of `text`.
std::string_view take_digits(std::string_view& text) noexcept {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

bool take(std::string_view& text, char wanted) noexcept {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// The exponent part behind the `e`; nullopt when it is not one.
std::optional<std::int64_t> parse_exponent(std::string_view text) noexcept {
  const bool minus = take(text, '-');
  if (!minus) take(text, '+');
  const std::string_view digits = take_digits(text);
  if (digits.empty() || !text.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char digit : digits) value = std::min(value * 10 + (digit - '0'), exponent_bound);
  return minus ? -value : value;
}

}  // namespace

Decimal::Decimal(std::uint64_t whole) {
  if (whole == 0) return;
  for (; whole % 10 == 0; whole /= 10) ++exponent_;
  for (std::uint64_t rest = whole; rest != 0; rest /= 10) ++size_;
  for (std::uint32_t at = size_; at > 0; whole /= 10) digits_[--at] = static_cast<char>('0' + whole % 10);
}

std::optional<Decimal> Decimal::parse(std::string_view text) {
  const bool minus = take(text, '-');
  const std::string_view whole = take_digits(text);
  if (whole.empty() || (whole.size() > 1 && whole.front() == '0')) return std::nullopt;
  std::string_view fraction;
  if (take(text, '.')) {
    fraction = take_digits(text);
    if (fraction.empty()) return std::nullopt;
  }
  std::int64_t exponent = 0;
  if (take(text, 'e') || take(text, 'E')) {
    const std::optional<std::int64_t> parsed = parse_exponent(text);
    if (!parsed) return std::nullopt;
    exponent = *parsed;
    text = {};
  }
  if (!text.empty()) return std::nullopt;

  Decimal result;
  std::uint32_t size = 0;
  std::size_t cut = 0;
  bool cut_any = false;
  for (const std::string_view part : {whole, fraction}) {
    for (const char digit : part) {
      if (size < kept_digits) {
        if (digit != '0' || size != 0) result.digits_[size++] = digit;
      } else {
        ++cut;
        cut_any = cut_any || digit != '0';
      }
    }
  }
  result.exponent_ = exponent - static_cast<std::int64_t>(fraction.size()) + static_cast<std::int64_t>(cut);
  if (cut_any) {
    result.digits_[size++] = '1';
    --result.exponent_;
  }
  while (size > 0 && result.digits_[size - 1] == '0') {
    --size;
    ++result.exponent_;
  }
  if (size == 0) return Decimal{};
  result.size_ = size;
  result.negative_ = minus;
  return result;
}

bool Decimal::within_double_range() const {
  // The number is 0.digits times ten to the `magnitude`; the largest double is 0.179… times ten to the 309.
  const std::int64_t magnitude = static_cast<std::int64_t>(size_) + exponent_;
  if (zero() || magnitude < 309) return true;
  if (magnitude > 309) return false;
  // Beyond the largest double by half a step and more rounds to infinity: from 2^1024 - 2^970 on.
  Natural number = Natural::from_digits(digits());
  Natural bound{(std::uint64_t{1} << 54) - 1};
  bound.shift_left(970);
  if (exponent_ >= 0) {
    number.multiply_power_of_ten(static_cast<std::uint64_t>(exponent_));
  } else {
    bound.multiply_power_of_ten(static_cast<std::uint64_t>(-exponent_));
  }
  return number.compare(bound) < 0;
}

}  // namespace tierlimit
