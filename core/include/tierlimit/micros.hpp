// SPDX-License-Identifier: MIT
/// \file
/// Between the host's milliseconds and the core's whole microseconds.
#pragma once

#include <cstdint>
#include <optional>

namespace tierlimit {

/// Readings lie within this many microseconds of zero (about 285 years), so that each is exact as a double.
inline constexpr std::int64_t max_micros = std::int64_t{1} << 53;

/// The whole microsecond nearest to `ms` milliseconds: the product `ms * 1000` as a double, rounded to the nearest
/// integer, ties to even. nullopt unless that product is finite and within `max_micros` of zero.
[[nodiscard, gnu::always_inline]] inline std::optional<std::int64_t> to_micros(double ms) noexcept {
  constexpr auto bound = static_cast<double>(max_micros);
  const double product = ms * 1000.0;
  if (!(product >= -bound && product <= bound)) return std::nullopt;  // NaN fails both
  // Rounded by the default mode: to the nearest, ties to even.
  return static_cast<std::int64_t>(__builtin_rint(product));
}

/// How many milliseconds to wait from the reading `now_ms` until `wait` microseconds have passed: the least whole
/// number of microseconds w, not below `wait`, such that `to_micros(now_ms + w / 1000.0)` is at least
/// `to_micros(now_ms) + wait`; returned as `w / 1000.0`. Where that instant is later than `max_micros`, which no
/// reading reaches, w is `wait`. `now_ms` is a reading that `to_micros` accepts.
[[nodiscard]] double wait_ms(double now_ms, std::uint64_t wait) noexcept;

}  // namespace tierlimit
