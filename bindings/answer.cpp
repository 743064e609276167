// SPDX-License-Identifier: MIT
#include "answer.hpp"

#include <optional>

#include "tierlimit/micros.hpp"

namespace tierlimit::bindings {
namespace {

double in_ms(const std::optional<std::uint64_t>& wait, double now_ms) noexcept {
  return wait ? wait_ms(now_ms, *wait) : -1;
}

}  // namespace

Status ask(Question question, TierLimiter& limiter, const Fingerprint& client, TierChoice tier, std::uint64_t cost,
           double now_ms, Answer& answer) {
  const std::optional<std::int64_t> now = to_micros(now_ms);
  if (!now) return invalid_time;
  const Judgement judgement =
      question == Question::peek ? limiter.preview(client, tier, cost, *now) : limiter.judge(client, tier, cost, *now);
  const Status status = status_of(judgement.status);
  if (status == clock_error) return tell_clock_error(answer, judgement.state.touched);
  if (status < 0) return status;
  answer.reason = static_cast<std::int32_t>(judgement.reason);
  answer.fallback = static_cast<std::int32_t>(judgement.fallback);
  answer.tier = judgement.has_tier ? static_cast<std::int32_t>(judgement.tier) : -1;
  answer.limits = TierLimiter::limits_of(judgement);
  answer.binding = judgement.binding;
  for (std::uint32_t i = 0; i < answer.limits; ++i) {
    const LimitDecision decision = limiter.describe_limit(judgement, cost, i);
    LimitAnswer& said = answer.limit[i];
    said.limit = decision.limit;
    said.remaining = static_cast<double>(decision.remaining);
    said.retry_ms = in_ms(decision.retry, now_ms);
    said.reset_ms = in_ms(decision.reset, now_ms);
    said.window_ms = decision.window ? static_cast<double>(*decision.window) / 1000 : -1;
    said.more_ms = in_ms(decision.more, now_ms);
    said.name = decision.name.data();
    // The one that nearly all policies have needs no reading.
    said.name_size = judgement.limits == 0 ? 0 : static_cast<std::uint32_t>(decision.name.size());
  }
  if (question == Question::reserve) answer.hold = limiter.hold(judgement, cost, *now);
  return status;
}

}  // namespace tierlimit::bindings
