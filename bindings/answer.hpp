// SPDX-License-Identifier: MIT
/// \file
/// A decision in numbers, as the hot path leaves it for JavaScript to read and embind puts it into words.
#pragma once

#include <cstdint>

#include "tierlimit/limiter.hpp"

namespace tierlimit::bindings {

/// Whether a request is admitted, or below 0 why there is no decision.
enum Status : std::int32_t {
  denied = 0,
  admitted = 1,
  clock_error = -1,
  invalid_time = -2,
  invalid_cost = -3,
  not_seeded = -4,
  no_policies = -5,
  out_of_memory = -6,
};

/// What is asked for a client. The first three are requests.
enum class Question : std::uint32_t { check, peek, reserve, settle, refund, fingerprint, batch };

/// What one limit said, of those that judged together.
struct LimitAnswer {
  double limit;
  double remaining;
  double retry_ms;   // -1: never
  double reset_ms;   // -1: never
  double window_ms;  // -1: never
  double more_ms;    // -1: never
  const char* name;  // Until the limiter's next document.
  std::uint32_t name_size;
};

/// What `check` and others leave behind, as JavaScript reads it.
struct Answer {
  double touched_ms;  // only after a clock error
  double debt;        // or what was to be put back, and no limit took it
  std::int32_t reason;
  std::int32_t fallback;
  std::int32_t tier;      // -1: none that the core knows the name of
  std::uint32_t limits;   // so many, and
  std::uint32_t binding;  // the one that binds
  Fingerprint fingerprint;
  const Fingerprint* results;
  LimitAnswer limit[Policy::most_limits];
  Hold hold;
};

[[nodiscard]] inline Status status_of(Judgement::Status status) noexcept {
  switch (status) {
    case Judgement::Status::admitted: return admitted;
    case Judgement::Status::denied: return denied;
    case Judgement::Status::clock: return clock_error;
    case Judgement::Status::invalid_cost: return invalid_cost;
    case Judgement::Status::not_seeded: return not_seeded;
    case Judgement::Status::no_policies: return no_policies;
  }
  return no_policies;
}

inline Status tell_clock_error(Answer& answer, std::int64_t touched) noexcept {
  answer.touched_ms = static_cast<double>(touched) / 1000;
  return clock_error;
}

/// Answers a request. A cost of 0 is an invalid one.
Status ask(Question question, TierLimiter& limiter, const Fingerprint& client, TierChoice tier, std::uint64_t cost,
           double now_ms, Answer& answer);

}  // namespace tierlimit::bindings
