// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tierlimit {

/// Products of two 64-bit numbers. Every compiler we build with has it, though ISO C++ does not.
__extension__ using Wide = unsigned __int128;

/// `a * b / c`, rounded down, or 2^64-1 where it is larger. `c` is below 2^63.
[[nodiscard]] inline std::uint64_t multiply_divide(std::uint64_t a, std::uint64_t b, std::uint64_t c) noexcept {
  const Wide product = Wide{a} * b;
  auto rest = static_cast<std::uint64_t>(product >> 64);
  if (rest == 0) return static_cast<std::uint64_t>(product) / c;
  if (rest >= c) return ~std::uint64_t{0};
  // Long division, a bit at a time: shorter than the general division of 128-bit numbers, which WebAssembly has not
  // either.
  auto quotient = static_cast<std::uint64_t>(product);
  for (int bit = 0; bit < 64; ++bit) {
    rest = rest << 1 | quotient >> 63;
    quotient <<= 1;
    if (rest >= c) {
      rest -= c;
      quotient |= 1;
    }
  }
  return quotient;
}

}  // namespace tierlimit
