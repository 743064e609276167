// SPDX-License-Identifier: MIT
// What of the limiter is seldom called: setting up, loading policies, and putting decisions into words.
#include <algorithm>
#include <string>
#include <utility>

#include "memory.hpp"
#include "policy_reader.hpp"
#include "tierlimit/limiter.hpp"
#include "tierlimit/micros.hpp"

namespace tierlimit {
namespace {

Error failure(ErrorCode code, std::string message) {
  Error error;
  error.code = code;
  error.message = std::move(message);
  return error;
}

Error explain(const Judgement& judgement, std::uint64_t cost, std::int64_t now) {
  switch (judgement.status) {
    case Judgement::Status::clock:
      return failure(ErrorCode::clock,
                     "the clock reads " + std::to_string(now) +
                         " microseconds, earlier than the client's last decision (or, without a bucket, than full "
                         "buckets were forgotten) at " +
                         std::to_string(judgement.state.touched));
    case Judgement::Status::invalid_cost:
      return failure(ErrorCode::invalid_cost,
                     "the cost is " + std::to_string(cost) + "; it must be a whole number from 1 to 9007199254740991");
    case Judgement::Status::not_seeded:
      return failure(ErrorCode::not_seeded, "the limiter has no secret yet: seed it before the first decision");
    default: return failure(ErrorCode::no_policies, "no policy document is in force");
  }
}

Error out_of_range(std::int64_t now) {
  return failure(ErrorCode::invalid_time,
                 "the clock reads " + std::to_string(now) + " microseconds; it must be within 2^53 of zero");
}

bool failed(const Judgement& judgement) noexcept {
  return judgement.status != Judgement::Status::admitted && judgement.status != Judgement::Status::denied;
}

bool in_range(std::int64_t now) noexcept { return now >= -max_micros && now <= max_micros; }

// A request answered in words; `ask` judges it by the tier that its name stands for.
template <class Ask>
Result<Decision> answer(const TierLimiter& limiter, const Request& request, std::int64_t now, Ask ask) {
  if (!in_range(now)) return out_of_range(now);
  const Judgement judgement = ask(request.tier ? limiter.tier(*request.tier) : TierChoice{});
  if (failed(judgement)) return explain(judgement, request.cost, now);
  Decision decision = limiter.describe(judgement, request.cost);
  if (request.tier) decision.tier = request.tier;
  return decision;
}

}  // namespace

TierLimiter::TierLimiter(const LimiterOptions& options)
    : options_(options), definitions_(1), table_(options.max_clients, options.max_bytes) {}

bool TierLimiter::seed(const Secret& secret) {
  if (secret_) return true;
  if (!memory_available(directory_.room_to_seed())) return false;
  secret_ = secret;
  directory_.seed(secret);
  return true;
}

LimiterStats TierLimiter::stats() const {
  LimiterStats stats = stats_;
  stats.buckets = table_.size();
  stats.bytes = table_.bytes();
  stats.assignments = directory_.assignments();
  return stats;
}

// ---- Decisions in words --------------------------------------------------------------------------------------------

Result<Decision> TierLimiter::check(const Request& request, std::int64_t now) {
  return answer(*this, request, now, [&](TierChoice tier) { return judge(request.client, tier, request.cost, now); });
}

Result<Decision> TierLimiter::peek(const Request& request, std::int64_t now) {
  return answer(*this, request, now, [&](TierChoice tier) { return preview(request.client, tier, request.cost, now); });
}

TierChoice TierLimiter::tier(std::string_view name) const {
  const std::optional<TierId> id = directory_.find(name);
  // A name that only assignments use is as unknown as one that nobody uses.
  if (!id || directory_[*id].fallback == Fallback::unknown_tier) return {TierChoice::unknown};
  return {static_cast<std::int32_t>(*id)};
}

Decision TierLimiter::describe(const Judgement& judgement, std::uint64_t cost) const {
  const Limit& limit = *judgement.limit;
  const auto known = [](std::uint64_t wait) { return wait == never ? std::nullopt : std::optional{wait}; };
  Decision decision;
  decision.allowed = judgement.status == Judgement::Status::admitted;
  decision.limit = limit.capacity;
  decision.remaining = judgement.state.balance / limit.unit;
  decision.reason = judgement.reason;
  decision.fallback = judgement.fallback;
  decision.reset = known(time_until(limit, judgement.state.balance, limit.full));
  if (judgement.has_tier) decision.tier = tier_name(judgement.tier);
  switch (judgement.reason) {
    case Reason::ok: decision.retry = 0; break;
    case Reason::exhausted:
      // The price is at most `full`: a cost above the capacity has a reason of its own.
      decision.retry = known(time_until(limit, judgement.state.balance, static_cast<std::int64_t>(cost) * limit.unit));
      break;
    case Reason::table_full: decision.retry = known(judgement.wait); break;
    case Reason::cost_exceeds_capacity:
    case Reason::never_refills: break;
  }
  return decision;
}

// ---- Policies ------------------------------------------------------------------------------------------------------

Result<bool> TierLimiter::set_tier(std::string_view client, std::optional<std::string_view> tier) {
  const std::size_t text = client.size() + (tier ? tier->size() : 0);
  if (!memory_available(directory_.room_to_add(1, 1) + 2 * text)) {
    return failure(ErrorCode::out_of_memory, "memory for one more assignment cannot be had");
  }
  std::optional<TierId> id;
  if (tier) id = acquire_tier(*tier);
  directory_.assign(client, id);
  return true;
}

Result<std::uint32_t, std::vector<Error>> TierLimiter::set_policies(std::string_view json) {
  PolicySet policies;
  std::vector<Error> errors;
  if (!read_policies(json, options_.strict, policies, errors)) return errors;
  if (!memory_available(room_to_install(policies))) {
    add_document_too_large(errors);
    return errors;
  }
  install(std::move(policies));
  return ++revision_;
}

// Counts one more user of a tier's name; a name that is new is that of a tier which is not there.
TierId TierLimiter::acquire_tier(std::string_view name) {
  const TierId tier = directory_.acquire(name);
  TierEntry& entry = directory_[tier];
  if (entry.fallback == Fallback::unknown_tier) entry.definition = default_definition_;
  return tier;
}

// The number of the limit that judges a tier from now on: that of the present one if it is equal, so that reloading a
// document moves nothing.
std::uint32_t TierLimiter::define(TierId tier, std::uint32_t present, const Limit& limit) {
  // A tier without a limit of its own is judged by the default's, which is not to be taken for its own.
  if (present == 0 || definitions_[present].tier != tier || !(definitions_[present].limit == limit)) {
    present = unused_definition_;
    if (present != 0) {
      unused_definition_ = definitions_[present].tier;
    } else {
      present = static_cast<std::uint32_t>(definitions_.size());
      definitions_.emplace_back();
    }
    definitions_[present] = {limit, tier, 0};
    if (tier != no_tier) ++directory_[tier].users;
  }
  ++definitions_[present].users;
  return present;
}

// More bytes than it takes to put the policies in force while the last ones are there too.
std::size_t TierLimiter::room_to_install(const PolicySet& policies) const noexcept {
  const std::size_t tiers = policies.tiers.size();
  const std::size_t clients = policies.clients.size();
  constexpr std::size_t bytes_per_limit = 4 * (sizeof(Definition) + 4 * sizeof(std::uint32_t));
  constexpr std::size_t allocation_overhead = 32;
  std::size_t bytes = directory_.room_to_add(tiers + clients, 0) + clients * bytes_per_assignment +
                      (definitions_.size() + tiers + 1) * bytes_per_limit;
  for (const Tier& tier : policies.tiers) bytes += tier.name.size() + allocation_overhead;
  for (const ClientTier& client : policies.clients) {
    bytes += client.client.size() + client.tier.size() + 2 * allocation_overhead;
  }
  return bytes;
}

void TierLimiter::install(PolicySet&& policies) {
  // What the document holds from now on. What the last one held goes at the end, so that nothing that stays is without
  // a user in between.
  std::vector<std::uint32_t> definitions;
  std::vector<TierId> tiers;
  std::vector<std::uint32_t> judged_by;  // each tier; 0: its policy is invalid

  definitions.push_back(define(no_tier, default_definition_, policies.default_policy.limits[0].limit));
  default_definition_ = definitions.front();
  for (const Tier& tier : policies.tiers) {
    const TierId id = directory_.acquire(tier.name);
    tiers.push_back(id);
    judged_by.push_back(tier.policy ? define(id, directory_[id].definition, tier.policy->limits[0].limit) : 0);
    if (judged_by.back() != 0) definitions.push_back(judged_by.back());
  }

  directory_.each([this](TierEntry& entry) {
    entry.definition = default_definition_;
    entry.fallback = Fallback::unknown_tier;
  });
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    TierEntry& entry = directory_[tiers[i]];
    entry.fallback = judged_by[i] != 0 ? Fallback::none : Fallback::invalid_tier_policy;
    if (judged_by[i] != 0) entry.definition = judged_by[i];
  }

  Assignments clients;
  if (secret_) clients.seed(*secret_, [](TierId) {});
  for (const ClientTier& assignment : policies.clients) {
    clients.set(assignment.client, acquire_tier(assignment.tier));
  }
  directory_.replace_document(clients);

  // From the last name on: the directory is sorted too, and what is behind a name that goes has to move.
  for (auto tier = document_tiers_.rbegin(); tier != document_tiers_.rend(); ++tier) directory_.release(*tier);
  for (auto last = document_definitions_.rbegin(); last != document_definitions_.rend(); ++last) release(*last);
  document_tiers_ = std::move(tiers);
  document_definitions_ = std::move(definitions);
  rejected_ = std::move(policies.rejected);
  warnings_ = std::move(policies.warnings);
}

}  // namespace tierlimit
