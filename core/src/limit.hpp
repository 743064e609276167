// SPDX-License-Identifier: MIT
/// \file
/// `Limit::make` and `Limit::window` without words, for those who have their own.
#pragma once

#include <cstdint>

#include "tierlimit/policy.hpp"

namespace tierlimit {

/// Which of the numbers breaks its rule (a window has its limit for a capacity); or all of them together do not fit.
enum class LimitFault : std::uint8_t { none, capacity, tokens, seconds, together };

/// Makes the limit, unless there is a fault.
[[nodiscard]] LimitFault make_limit(const Decimal& capacity, const Decimal& tokens, const Decimal& seconds,
                                    Limit& limit);
/// The same for a window. Whatever is no sliding window is a fixed one.
[[nodiscard]] LimitFault make_window(Algorithm algorithm, const Decimal& limit, const Decimal& seconds, Limit& made);

}  // namespace tierlimit
