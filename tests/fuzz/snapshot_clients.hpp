// SPDX-License-Identifier: MIT
/// \file
/// Whom the snapshots tell of that fuzz_snapshot begins with, and whom it asks for.
#pragma once

#include <array>

#include "tierlimit/siphash.hpp"

inline constexpr std::array<const char*, 4> snapshot_clients{"acme", "initech", "globex", "umbrella"};
inline constexpr tierlimit::Secret snapshot_secret{1, 2};
