// SPDX-License-Identifier: MIT
/// \file
/// Numbers to try things with, the same ones on every run.
#pragma once

#include <cstddef>
#include <cstdint>

/// SplitMix64. (What the standard distributions draw differs between libraries.)
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// 0 up to `bound - 1`.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  /// From `first` to `last`, both included.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    const std::uint64_t span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + 1;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + below(span));
  }
  /// A number of up to `most` bits (1 to 64), small ones as likely as large ones. May be 0.
  std::uint64_t bits(unsigned most = 64) { return next() >> (64 - most) >> below(most); }
  bool chance(std::uint64_t one_in) { return below(one_in) == 0; }
  template <class T, std::size_t N>
  T pick(const T (&from)[N]) {
    return from[below(N)];
  }

 private:
  std::uint64_t state_;
};
