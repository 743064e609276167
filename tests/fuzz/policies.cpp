// SPDX-License-Identifier: MIT
// Policy text. Whatever it is: the report is consistent, what is refused changes nothing, what is accepted decides, and
// a second time is as the first.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "expect.hpp"
#include "snapshot_bytes.hpp"
#include "tierlimit/limiter.hpp"
#include "utf8.hpp"

namespace {

using tierlimit::Algorithm;
using tierlimit::Decision;
using tierlimit::Error;
using tierlimit::ErrorCode;
using tierlimit::Limit;
using tierlimit::LimiterOptions;
using tierlimit::List;
using tierlimit::PolicySet;
using tierlimit::TierLimiter;

constexpr std::int64_t second = 1'000'000;

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = tierlimit::utf8::sequence_length(text, at);
    if (length == 0) return false;
    at += length;
  }
  return true;
}

bool same(const List<Error>& some, const List<Error>& others) {
  return std::equal(some.begin(), some.end(), others.begin(), others.end(), [](const Error& a, const Error& b) {
    return a.code == b.code && a.message == b.message && a.path == b.path && a.line == b.line && a.column == b.column;
  });
}

void check_report(const List<Error>& errors, std::string_view text) {
  std::size_t lines = 1;
  for (const char c : text) lines += c == '\n' || c == '\r' ? 1 : 0;
  for (const Error& error : errors) {
    EXPECT(error.code < ErrorCode::clock);
    EXPECT(!error.message.empty() && is_utf8(error.message));
    EXPECT(is_utf8(error.path) && (error.path.empty() || error.path.view().front() == '/'));
    EXPECT((error.line == 0) == (error.column == 0));
    EXPECT(error.line <= lines && error.column <= text.size() + 1);
  }
}

void check_limit(const Limit& limit) {
  EXPECT(limit.unit >= 1 && limit.gain >= 0 && limit.whole >= 1 && limit.full >= limit.whole);
  if (limit.algorithm != Algorithm::token_bucket) {
    EXPECT(limit.unit == 1 && limit.gain == 0 && limit.fill >= 1 && limit.fill <= Limit::longest_window);
    EXPECT(limit.whole <= (limit.algorithm == Algorithm::sliding_window ? Limit::most_logged : Limit::most_counted));
    EXPECT(limit.capacity == static_cast<double>(limit.whole));
    return;
  }
  EXPECT(limit.full / limit.unit == limit.whole);
  EXPECT(limit.gain == 0 || static_cast<std::uint64_t>((limit.full - 1) / limit.gain) + 1 == limit.fill);
  EXPECT(limit.capacity >= 1 && limit.capacity < 1e300 * 1e300);
}

Decision decide(TierLimiter& limiter, std::string_view tier, std::uint64_t cost, std::int64_t now) {
  const auto decided = limiter.check({"acme", cost, tier}, now);
  EXPECT(decided.ok());
  return decided.value();
}

// A client that has spent all may spend no more, and one token when it was told to come back.
void spend(TierLimiter& limiter, const PolicySet& policies, std::int64_t& now) {
  std::size_t tiers = 0;
  for (const auto& tier : policies.tiers) {
    if (++tiers > 8) return;
    const tierlimit::Policy& policy = tier.policy.valid() ? tier.policy : policies.default_policy;
    const std::string client = "client of " + std::string(tier.name);
    std::uint64_t least = tierlimit::max_cost;
    for (const auto& [name, limit] : policy.limits) least = std::min(least, static_cast<std::uint64_t>(limit.whole));
    const auto all = limiter.check({client, least, tier.name}, now);
    EXPECT(all.ok() && all.value().allowed && all.value().limits.size() == policy.limits.size());
    EXPECT(all.value().tier == tier.name);
    EXPECT((all.value().fallback == tierlimit::Fallback::none) == tier.policy.valid());
    const auto more = limiter.check({client, least, tier.name}, now);
    EXPECT(more.ok());
    if (least == tierlimit::max_cost || more.value().allowed) continue;
    if (!more.value().retry || *more.value().retry > 1'000'000'000'000) continue;
    const auto later = now + static_cast<std::int64_t>(*more.value().retry);
    EXPECT(!limiter.peek({client, least, tier.name}, later - 1).value().allowed);
    EXPECT(limiter.peek({client, least, tier.name}, later).value().allowed);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const auto loose = PolicySet::from_json(text);
  const auto strict = PolicySet::from_json(text, true);
  EXPECT(strict.ok() == (loose.ok() && loose.value().rejected.empty()));

  TierLimiter limiter;
  EXPECT(limiter.set_policies(R"({"default": {"capacity": 9, "refillPerSecond": 1}})").ok());
  EXPECT(limiter.seed({1, 2}));
  std::int64_t now = 1'000 * second;
  EXPECT(decide(limiter, "a", 4, now).remaining == 5);

  const auto set = limiter.set_policies(text, now);
  EXPECT(set.ok() == loose.ok());
  if (!set.ok()) {
    EXPECT(!set.error().empty() && same(set.error(), loose.error()));
    check_report(set.error(), text);
    EXPECT(limiter.revision() == 1 && limiter.rejected().empty() && limiter.warnings().empty());
    EXPECT(decide(limiter, "a", 1, now).remaining == 4);
    return 0;
  }
  const PolicySet& policies = loose.value();
  if (!strict.ok()) EXPECT(same(strict.error(), policies.rejected));
  EXPECT(limiter.revision() == 2 && same(limiter.rejected(), policies.rejected));
  check_report(limiter.rejected(), text);
  check_report(limiter.warnings(), text);
  for (const auto& [name, limit] : policies.default_policy.limits) check_limit(limit);
  for (const auto& tier : policies.tiers) {
    EXPECT(is_utf8(tier.name) && policies.find(tier.name) == &tier);
    if (!tier.policy.valid()) continue;
    EXPECT(tier.policy.limits.size() <= tierlimit::Policy::most_limits);
    for (const auto& [name, limit] : tier.policy.limits) check_limit(limit);
  }
  spend(limiter, policies, now);

  // The same once more, also in a limiter that was restored: nothing changes.
  const auto before = limiter.peek({"acme", 1}, now);
  const List<Error> warnings = limiter.warnings();
  EXPECT(limiter.set_policies(text, now).ok());
  EXPECT(limiter.revision() == 3 && same(limiter.rejected(), policies.rejected) && same(limiter.warnings(), warnings));
  Bytes snapshot = snapshot_of(limiter, now);
  TierLimiter restored;
  EXPECT(restored.restore(from(snapshot), 0).ok());
  EXPECT(restored.set_policies(text, std::int64_t{0}).ok());
  EXPECT(restored.revision() == 4 && same(restored.rejected(), policies.rejected));
  const auto after = limiter.peek({"acme", 1}, now);
  const auto elsewhere = restored.peek({"acme", 1}, 0);
  EXPECT(before.ok() && after.ok() && elsewhere.ok());
  for (const auto* const answer : {&after.value(), &elsewhere.value()}) {
    EXPECT(answer->allowed == before.value().allowed && answer->remaining == before.value().remaining);
    EXPECT(answer->retry == before.value().retry && answer->reset == before.value().reset);
  }
  return 0;
}
