// SPDX-License-Identifier: MIT
#include "tierlimit/sliding_window.hpp"

namespace tierlimit::sliding_window {

Live live(const Limit& limit, const WindowLog* log, std::int64_t now) noexcept {
  Live live;
  if (log == nullptr) return live;
  live.tokens = log->total();
  const std::uint32_t size = log->size();
  const auto age = [&](std::uint32_t index) {
    return static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(log->time(index));
  };
  while (live.expired < size && age(live.expired) >= limit.fill) live.tokens -= log->tokens(live.expired++);
  return live;
}

Outcome step(const Limit& limit, const BucketState& state, std::int64_t now, std::uint64_t cost) noexcept {
  using Verdict = Outcome::Verdict;
  Verdict verdict = Verdict::admitted;
  if (cost > static_cast<std::uint64_t>(limit.whole)) {
    verdict = Verdict::cost_exceeds_capacity;
  } else if (static_cast<std::int64_t>(cost) > remaining(limit, live(limit, log_of(state), now))) {
    verdict = Verdict::exhausted;
  }
  return {verdict, {state.balance, now}};
}

std::uint64_t time_until(const Limit& limit, const WindowLog* log, std::int64_t now, std::int64_t most) noexcept {
  if (log == nullptr || log->size() == 0) return 0;
  std::int64_t tokens = log->total();
  std::uint64_t wait = 0;
  // Of all there is only the newest counts.
  const std::uint32_t first = most == 0 ? log->size() - 1 : 0;
  if (most == 0) tokens = log->tokens(first);
  for (std::uint32_t i = first; tokens > most; ++i) {
    tokens -= log->tokens(i);
    const std::uint64_t age = static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(log->time(i));
    wait = age < limit.fill ? limit.fill - age : 0;
  }
  return wait;
}

}  // namespace tierlimit::sliding_window
