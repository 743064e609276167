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

/// SipHash with 128 bits of output, `Compress` rounds a word and `Finish` rounds at the ends; of bytes at once, or word
/// by word. Inline, also where the rest is compiled for size: this is most of what a decision costs.
template <int Compress, int Finish>
class SipHash128 {
 public:
  explicit SipHash128(const Secret& secret) noexcept
      : v0_(secret[0] ^ 0x736f6d6570736575),
        v1_(secret[1] ^ 0x646f72616e646f6d ^ 0xee),
        v2_(secret[0] ^ 0x6c7967656e657261),
        v3_(secret[1] ^ 0x7465646279746573) {}

  [[nodiscard]] static std::array<std::uint64_t, 2> of(const Secret& secret, std::string_view bytes) noexcept {
    SipHash128 hash(secret);
    const std::size_t whole = bytes.size() / 8 * 8;
    hash.words(bytes.data(), whole);
    return hash.finish(bytes.substr(whole), bytes.size());
  }

  /// Takes in the next eight bytes, the first of them lowest.
  [[gnu::always_inline]] void word(std::uint64_t bytes) noexcept {
    v3_ ^= bytes;
    rounds(Compress);
    v0_ ^= bytes;
  }

  /// Takes in the next bytes, a multiple of eight.
  void words(const char* bytes, std::size_t size) noexcept {
    static_assert(std::endian::native == std::endian::little, "words are read as they lie in memory");
    for (const char* const end = bytes + size; bytes != end; bytes += 8) {
      std::uint64_t next = 0;
      std::memcpy(&next, bytes, 8);
      word(next);
    }
  }

  /// The hash, after the last bytes: fewer than eight.
  /// \param size  of all there was
  [[nodiscard]] std::array<std::uint64_t, 2> finish(std::string_view rest, std::uint64_t size) noexcept {
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      last |= std::uint64_t{static_cast<unsigned char>(rest[i])} << (8 * i);
    }
    return finish(last, size);
  }
  /// The same; the last bytes are as `word` takes them.
  [[nodiscard, gnu::always_inline]] std::array<std::uint64_t, 2> finish(std::uint64_t rest,
                                                                        std::uint64_t size) noexcept {
    word(rest | size << 56);
    v2_ ^= 0xee;
    rounds(Finish);
    const std::uint64_t low = v0_ ^ v1_ ^ v2_ ^ v3_;
    v1_ ^= 0xdd;
    rounds(Finish);
    return {low, v0_ ^ v1_ ^ v2_ ^ v3_};
  }

 private:
  [[gnu::always_inline]] void rounds(int count) noexcept {
    for (; count > 0; --count) {
      v0_ += v1_;
      v2_ += v3_;
      v1_ = std::rotl(v1_, 13) ^ v0_;
      v3_ = std::rotl(v3_, 16) ^ v2_;
      v0_ = std::rotl(v0_, 32);
      v2_ += v1_;
      v0_ += v3_;
      v1_ = std::rotl(v1_, 17) ^ v2_;
      v3_ = std::rotl(v3_, 21) ^ v0_;
      v2_ = std::rotl(v2_, 32);
    }
  }

  std::uint64_t v0_;
  std::uint64_t v1_;
  std::uint64_t v2_;
  std::uint64_t v3_;
};

}  // namespace tierlimit
