// SPDX-License-Identifier: MIT
#include "tierlimit/decision.hpp"

namespace tierlimit {

std::string_view to_string(Reason reason) noexcept {
  switch (reason) {
    case Reason::ok: return "ok";
    case Reason::exhausted: return "exhausted";
    case Reason::cost_exceeds_capacity: return "cost-exceeds-capacity";
    case Reason::never_refills: return "never-refills";
    case Reason::table_full: return "table-full";
  }
  return "";
}

std::string_view to_string(Fallback fallback) noexcept {
  switch (fallback) {
    case Fallback::none: return "";
    case Fallback::no_tier: return "no-tier";
    case Fallback::unknown_tier: return "unknown-tier";
    case Fallback::invalid_tier_policy: return "invalid-tier-policy";
  }
  return "";
}

}  // namespace tierlimit
