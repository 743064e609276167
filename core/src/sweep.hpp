// SPDX-License-Identifier: MIT
/// \file
/// What there is to do for the sweep, and how many buckets are looked at to make room.
#pragma once

#include <cstdint>

#include "tierlimit/limiter.hpp"

namespace tierlimit {

// What each decision adds to the sweep's work, and what a slot takes of it.
inline constexpr std::uint32_t work_per_decision = 1;
inline constexpr std::uint32_t work_per_slot = 2;
// A bucket that is full is kept for up to three rounds of the sweep, and a round is over some 1.8 slots for each
// bucket; so a new one has seven slots swept. (With five a steady stream of new clients was seen to make the table grow
// without end.)
inline constexpr std::uint32_t work_per_new_bucket = 14;
// So many slots at a time, since a row of them is fetched from memory at little more than the cost of one.
inline constexpr std::uint32_t slots_swept_together = 32;

// Of so many buckets the first to go is forgotten where there is no room.
inline constexpr std::uint32_t eviction_sample = 8;

// Counts a decision, and sweeps when it is time.
[[gnu::always_inline]] inline void TierLimiter::decided(bool admitted, std::int64_t now) noexcept {
  ++(admitted ? stats_.allowed : stats_.denied);
  sweep_due_ += work_per_decision;
  if (sweep_due_ >= slots_swept_together * work_per_slot) sweep(now);
}

}  // namespace tierlimit
