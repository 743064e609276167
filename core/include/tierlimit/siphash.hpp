// SPDX-License-Identifier: MIT
/// \file
/// SipHash: a hash that nobody can aim without knowing its key.
///
/// Jean-Philippe Aumasson and Daniel J. Bernstein, "SipHash: a fast short-input PRF", 2012; the 128-bit output is that
/// of the authors' reference implementation.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tierlimit {

/// 16 secret bytes as two little-endian words.
using Secret = std::array<std::uint64_t, 2>;

/// SipHash with 128 bits of output, `Compress` rounds a word and `Finish` rounds at the ends.
template <int Compress, int Finish>
[[nodiscard]] inline std::array<std::uint64_t, 2> siphash128(const Secret& secret, std::string_view bytes) noexcept {
  std::uint64_t v0 = secret[0] ^ 0x736f6d6570736575;
  std::uint64_t v1 = secret[1] ^ 0x646f72616e646f6d ^ 0xee;
  std::uint64_t v2 = secret[0] ^ 0x6c7967656e657261;
  std::uint64_t v3 = secret[1] ^ 0x7465646279746573;
  // Inline, also where the rest is compiled for size: this is most of what a decision costs.
  const auto rounds = [&](int count) __attribute__((always_inline)) {
    for (; count > 0; --count) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  };

  static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");
  const char* at = bytes.data();
  for (std::size_t words = bytes.size() / 8; words > 0; --words, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    v3 ^= word;
    rounds(Compress);
    v0 ^= word;
  }
  std::uint64_t last = std::uint64_t{bytes.size()} << 56;
  for (std::size_t i = 0; i < bytes.size() % 8; ++i) {
    last |= std::uint64_t{static_cast<unsigned char>(at[i])} << (8 * i);
  }
  v3 ^= last;
  rounds(Compress);
  v0 ^= last;

  v2 ^= 0xee;
  rounds(Finish);
  const std::uint64_t low = v0 ^ v1 ^ v2 ^ v3;
  v1 ^= 0xdd;
  rounds(Finish);
  return {low, v0 ^ v1 ^ v2 ^ v3};
}

}  // namespace tierlimit
