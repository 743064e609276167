// SPDX-License-Identifier: MIT
#include "tierlimit/micros.hpp"

namespace tierlimit {
namespace {

// The product as a double, rounded to an integer by the default mode: to the nearest, ties to even.
double rounded_micros(double ms) noexcept { return __builtin_rint(ms * 1000.0); }

double milliseconds(std::uint64_t micros) noexcept { return static_cast<double>(micros) / 1000.0; }

}  // namespace

double wait_ms(double now_ms, std::uint64_t wait) noexcept {
  const auto now = static_cast<std::int64_t>(rounded_micros(now_ms));
  if (wait > static_cast<std::uint64_t>(max_micros - now)) return milliseconds(wait);
  const auto instant = static_cast<double>(now + static_cast<std::int64_t>(wait));
  const auto reaches = [&](std::uint64_t w) { return rounded_micros(now_ms + milliseconds(w)) >= instant; };
  if (reaches(wait)) return milliseconds(wait);

  // Adding to a large reading rounds in steps of up to two microseconds, so the answer is a few microseconds off:
  // gallop until the instant is reached, then bisect for the least w (`reaches` never goes back to false).
  std::uint64_t low = wait;
  std::uint64_t stride = 1;
  while (!reaches(low + stride)) {
    low += stride;
    stride *= 2;
  }
  std::uint64_t high = low + stride;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (reaches(middle) ? high : low) = middle;
  }
  return milliseconds(high);
}

}  // namespace tierlimit
