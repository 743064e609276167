// SPDX-License-Identifier: MIT
/// \file
/// What stands for a client's name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "tierlimit/siphash.hpp"

namespace tierlimit {

/// 96 bits that stand for a client's name: SipHash-1-3 under the limiter's secret. Two names of a million share one
/// with a chance of about 6e-18.
struct Fingerprint {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;

  /// The hash of a fingerprint, for names that come in pieces.
  using Hash = SipHash128<1, 3>;

  [[nodiscard]] static Fingerprint of(const Secret& secret, std::string_view client) noexcept {
    return of(Hash::of(secret, client));
  }
  [[nodiscard]] static Fingerprint of(const std::array<std::uint64_t, 2>& hash) noexcept {
    return {static_cast<std::uint32_t>(hash[0]), static_cast<std::uint32_t>(hash[0] >> 32),
            static_cast<std::uint32_t>(hash[1])};
  }
  [[nodiscard]] friend Fingerprint operator^(const Fingerprint& x, const Fingerprint& y) noexcept {
    return {x.a ^ y.a, x.b ^ y.b, x.c ^ y.c};
  }
  friend bool operator==(const Fingerprint& x, const Fingerprint& y) noexcept {
    return ((x.a ^ y.a) | (x.b ^ y.b) | (x.c ^ y.c)) == 0;  // without branches
  }
};

}  // namespace tierlimit
