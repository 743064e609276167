// SPDX-License-Identifier: MIT
#pragma once

#include "tierlimit/decision.hpp"
#include "tierlimit/token_bucket.hpp"

namespace tierlimit {

/// What a verdict is called where people read it.
[[nodiscard]] inline Reason reason_of(Outcome::Verdict verdict) noexcept {
  switch (verdict) {
    case Outcome::Verdict::exhausted: return Reason::exhausted;
    case Outcome::Verdict::cost_exceeds_capacity: return Reason::cost_exceeds_capacity;
    case Outcome::Verdict::never_refills: return Reason::never_refills;
    default: return Reason::ok;
  }
}

}  // namespace tierlimit
