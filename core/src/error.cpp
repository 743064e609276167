// SPDX-License-Identifier: MIT
#include "tierlimit/error.hpp"

namespace tierlimit {

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::syntax: return "syntax";
    case ErrorCode::invalid_utf8: return "invalid-utf8";
    case ErrorCode::lone_surrogate: return "lone-surrogate";
    case ErrorCode::too_deep: return "too-deep";
    case ErrorCode::number_out_of_range: return "number-out-of-range";
    case ErrorCode::duplicate_member: return "duplicate-member";
    case ErrorCode::unknown_member: return "unknown-member";
    case ErrorCode::missing_member: return "missing-member";
    case ErrorCode::conflicting_members: return "conflicting-members";
    case ErrorCode::wrong_type: return "wrong-type";
    case ErrorCode::invalid_value: return "invalid-value";
    case ErrorCode::unsupported: return "unsupported";
    case ErrorCode::not_representable: return "not-representable";
    case ErrorCode::unknown_tier: return "unknown-tier";
    case ErrorCode::rate_rounded: return "rate-rounded";
    case ErrorCode::out_of_memory: return "out-of-memory";
    case ErrorCode::clock: return "clock";
    case ErrorCode::invalid_time: return "invalid-time";
    case ErrorCode::invalid_cost: return "invalid-cost";
    case ErrorCode::not_seeded: return "not-seeded";
    case ErrorCode::no_policies: return "no-policies";
    case ErrorCode::invalid_snapshot: return "invalid-snapshot";
  }
  return "";
}

}  // namespace tierlimit
