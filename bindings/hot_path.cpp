// SPDX-License-Identifier: MIT
// Plain exports over two buffers in linear memory, for callers that count nanoseconds: an embind call with a string
// costs several times such a call. README.md beside this file documents them; the JavaScript wrapper uses them.
#include <cstdint>
#include <cstdlib>

#include "arguments.hpp"
#include "tierlimit/limiter.hpp"
#include "tierlimit/micros.hpp"

#define TIERLIMIT_EXPORT extern "C" __attribute__((used, visibility("default")))

namespace {

using namespace tierlimit;

// What a call returns: whether the request is admitted, or below 0 why there is no decision.
enum Status : std::int32_t {
  denied = 0,
  admitted = 1,
  clock_error = -1,
  invalid_time = -2,
  invalid_cost = -3,
  not_seeded = -4,
  no_policies = -5,
};

// The tier argument: a tier's number, or one of these.
constexpr std::int32_t as_assigned = -1;
constexpr std::int32_t unknown_tier = -2;

// What `check` and `peek` leave behind, as JavaScript reads it.
struct Answer {
  double limit;
  double remaining;
  double retry_ms;    // -1: never
  double reset_ms;    // -1: never
  double touched_ms;  // only after a clock error
  std::int32_t reason;
  std::int32_t fallback;
  std::int32_t tier;  // -1: none that the core knows the name of
};

char* key = nullptr;
std::uint32_t key_size = 0;
Answer answer;

Status status_of(const Judgement& judgement) noexcept {
  switch (judgement.status) {
    case Judgement::Status::admitted: return admitted;
    case Judgement::Status::denied: return denied;
    case Judgement::Status::clock: return clock_error;
    case Judgement::Status::invalid_cost: return invalid_cost;
    case Judgement::Status::not_seeded: return not_seeded;
    case Judgement::Status::no_policies: return no_policies;
  }
  return no_policies;
}

TierChoice choice_of(std::int32_t tier) noexcept {
  if (tier == as_assigned) return {};
  if (tier == unknown_tier) return {TierChoice::Kind::unknown, 0};
  return {TierChoice::Kind::named, static_cast<TierId>(tier)};
}

double in_ms(const std::optional<std::uint64_t>& wait, double now_ms) noexcept {
  return wait ? wait_ms(now_ms, *wait) : -1;
}

Status tell(const TierLimiter& limiter, const Judgement& judgement, std::uint64_t cost, double now_ms) {
  const Status status = status_of(judgement);
  if (status == clock_error) answer.touched_ms = static_cast<double>(judgement.state.touched) / 1000;
  if (status < 0) return status;
  const Decision decision = limiter.describe(judgement, cost);
  answer.limit = decision.limit;
  answer.remaining = static_cast<double>(decision.remaining);
  answer.retry_ms = in_ms(decision.retry, now_ms);
  answer.reset_ms = in_ms(decision.reset, now_ms);
  answer.reason = static_cast<std::int32_t>(decision.reason);
  answer.fallback = static_cast<std::int32_t>(decision.fallback);
  answer.tier = judgement.has_tier ? static_cast<std::int32_t>(judgement.tier) : -1;
  return status;
}

}  // namespace

TIERLIMIT_EXPORT char* tierlimit_key(std::uint32_t bytes) {
  if (bytes > key_size) {
    auto* const grown = static_cast<char*>(std::malloc(bytes));
    if (grown == nullptr) return nullptr;
    std::free(key);
    key = grown;
    key_size = bytes;
  }
  return key;
}

// Whether that many bytes can be had: to be asked before a long text is handed to embind, which does not ask.
TIERLIMIT_EXPORT bool tierlimit_memory(std::uint32_t bytes) {
  // Volatile, because compilers leave out an allocation that nobody uses, and take it for granted.
  void* volatile const probe = std::malloc(bytes);
  const bool available = probe != nullptr;
  std::free(probe);
  return available;
}

TIERLIMIT_EXPORT const void* tierlimit_answer() { return &answer; }

TIERLIMIT_EXPORT std::int32_t tierlimit_tier(const TierLimiter* limiter, std::uint32_t bytes) {
  const TierChoice choice = limiter->tier({key, bytes});
  return choice.kind == TierChoice::Kind::unknown ? unknown_tier : static_cast<std::int32_t>(choice.id);
}

TIERLIMIT_EXPORT std::int32_t tierlimit_allow(TierLimiter* limiter, std::uint32_t bytes, std::int32_t tier, double cost,
                                              double now_ms) {
  const std::optional<std::int64_t> now = to_micros(now_ms);
  if (!now) return invalid_time;
  const Judgement judgement = limiter->judge({key, bytes}, choice_of(tier), bindings::whole_cost(cost), *now);
  if (judgement.status == Judgement::Status::clock) tell(*limiter, judgement, 0, now_ms);
  return status_of(judgement);
}

TIERLIMIT_EXPORT std::int32_t tierlimit_check(TierLimiter* limiter, std::uint32_t bytes, std::int32_t tier, double cost,
                                              double now_ms) {
  const std::optional<std::int64_t> now = to_micros(now_ms);
  if (!now) return invalid_time;
  const std::uint64_t whole = bindings::whole_cost(cost);
  return tell(*limiter, limiter->judge({key, bytes}, choice_of(tier), whole, *now), whole, now_ms);
}

TIERLIMIT_EXPORT std::int32_t tierlimit_peek(const TierLimiter* limiter, std::uint32_t bytes, std::int32_t tier,
                                             double cost, double now_ms) {
  const std::optional<std::int64_t> now = to_micros(now_ms);
  if (!now) return invalid_time;
  const std::uint64_t whole = bindings::whole_cost(cost);
  return tell(*limiter, limiter->preview({key, bytes}, choice_of(tier), whole, *now), whole, now_ms);
}
