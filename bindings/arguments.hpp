// SPDX-License-Identifier: MIT
/// \file
/// JavaScript's numbers as the core takes them.
#pragma once

#include <cstdint>

#include "tierlimit/limiter.hpp"

namespace tierlimit::bindings {

/// The cost, or 0 (which the limiter refuses) for what is not a whole number from 1 to 2^53-1.
[[nodiscard, gnu::always_inline]] inline std::uint64_t whole_cost(double cost) noexcept {
  if (cost == 1) return 1;  // nearly always
  if (!(cost >= 1 && cost <= static_cast<double>(max_cost))) return 0;
  const auto whole = static_cast<std::uint64_t>(cost);
  return static_cast<double>(whole) == cost ? whole : 0;
}

}  // namespace tierlimit::bindings
