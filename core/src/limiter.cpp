// SPDX-License-Identifier: MIT
#include "tierlimit/limiter.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "memory.hpp"
#include "tierlimit/micros.hpp"

namespace tierlimit {
namespace {

constexpr std::uint64_t never = ~std::uint64_t{0};

// How many slots each decision has swept. For a new client more than it takes, so that a stream of them which are full
// again at once does not make the table grow.
constexpr std::uint32_t slots_per_decision = 1;
constexpr std::uint32_t slots_per_new_client = 3;
// So many at a time, since a row of them is fetched from memory at little more than the cost of one.
constexpr std::uint32_t slots_swept_together = 32;
constexpr std::uint32_t eviction_sample = 8;
// Among more limits than this a bucket that several tiers have judged is not compared with each: it is kept.
constexpr std::size_t most_limits_compared = 64;

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

// ---- Decisions -----------------------------------------------------------------------------------------------------

Result<Decision> TierLimiter::check(const Request& request, std::int64_t now) {
  return answer(*this, request, now, [&](TierChoice tier) { return judge(request.client, tier, request.cost, now); });
}

Result<Decision> TierLimiter::peek(const Request& request, std::int64_t now) {
  return answer(*this, request, now, [&](TierChoice tier) { return preview(request.client, tier, request.cost, now); });
}

TierChoice TierLimiter::tier(std::string_view name) const {
  const std::optional<TierId> id = directory_.find(name);
  // A name that only assignments use is as unknown as one that nobody uses.
  if (!id || directory_[*id].fallback == Fallback::unknown_tier) return {TierChoice::Kind::unknown, 0};
  return {TierChoice::Kind::named, *id};
}

// Which limit judges the request, and what stands in the way of judging it.
Judgement TierLimiter::look_up(const Fingerprint& client, TierChoice tier, std::uint64_t cost,
                               std::uint32_t& definition) const {
  Judgement judgement;
  definition = default_definition_;
  if (cost == 0 || cost > max_cost) judgement.status = Judgement::Status::invalid_cost;
  if (tier.kind == TierChoice::Kind::unknown) {
    judgement.fallback = Fallback::unknown_tier;
  } else {
    const std::optional<TierId> id =
        tier.kind == TierChoice::Kind::named ? std::optional{tier.id} : directory_.assigned(client);
    if (id) {
      const TierEntry& entry = directory_[*id];
      definition = entry.definition;
      judgement.fallback = entry.fallback;
      judgement.has_tier = true;
      judgement.tier = *id;
    } else {
      judgement.fallback = Fallback::no_tier;
    }
  }
  judgement.limit = &definitions_[definition].limit;
  return judgement;
}

Judgement TierLimiter::stepped(Judgement judgement, const Slot* slot, std::uint64_t cost, std::int64_t now) const {
  if (failed(judgement)) return judgement;
  // A client without a bucket may be one that was forgotten: full at a time that this clock had not come to yet.
  const std::int64_t earliest = slot != nullptr ? slot->state.touched : swept_at_;
  if (now < earliest) {
    judgement.status = Judgement::Status::clock;
    judgement.state.touched = earliest;
    return judgement;
  }
  const BucketState before =
      slot != nullptr ? state_under(*slot, *judgement.limit) : full_bucket(*judgement.limit, now);
  const Outcome outcome = step(*judgement.limit, before, now, cost);
  judgement.state = outcome.state;
  switch (outcome.verdict) {
    case Outcome::Verdict::admitted:
      judgement.status = Judgement::Status::admitted;
      judgement.reason = Reason::ok;
      break;
    case Outcome::Verdict::exhausted: judgement.reason = Reason::exhausted; break;
    case Outcome::Verdict::cost_exceeds_capacity: judgement.reason = Reason::cost_exceeds_capacity; break;
    case Outcome::Verdict::never_refills: judgement.reason = Reason::never_refills; break;
  }
  return judgement;
}

Judgement TierLimiter::not_ready() const noexcept {
  Judgement judgement;
  judgement.status = revision_ == 0 ? Judgement::Status::no_policies : Judgement::Status::not_seeded;
  return judgement;
}

Judgement TierLimiter::judge(const Fingerprint& client, TierChoice tier, std::uint64_t cost, std::int64_t now) {
  if (!ready()) return not_ready();
  std::uint32_t definition = 0;
  Slot* slot = table_.find(client);
  Judgement judgement = stepped(look_up(client, tier, cost, definition), slot, cost, now);
  if (failed(judgement)) return judgement;

  if (slot == nullptr) {
    sweep_due_ += slots_per_new_client;
    slot = table_.insert(client);
  }
  if (slot == nullptr) {
    if (judgement.status == Judgement::Status::denied) {
      // The cost of a client never seen is above the capacity: its bucket stays full, so there is nothing to remember.
      ++stats_.denied;
      return judgement;
    }
    const Candidate candidate = first_to_go(client, now);
    if (turned_away(candidate)) {
      ++stats_.denied;
      ++stats_.table_full;
      return table_full(judgement, candidate, now);
    }
    slot = make_room(client, candidate, now);
  }
  use(*slot, definition);
  slot->state = judgement.state;
  ++(judgement.status == Judgement::Status::admitted ? stats_.allowed : stats_.denied);
  sweep_due_ += slots_per_decision;
  if (sweep_due_ >= slots_swept_together) sweep(now);
  return judgement;
}

std::int64_t TierLimiter::earliest(const Fingerprint& client) const noexcept {
  // A client without a bucket may be one that was forgotten: full at a time that this clock had not come to yet.
  const Slot* const slot = table_.find(client);
  return slot != nullptr ? slot->state.touched : swept_at_;
}

Judgement TierLimiter::preview(const Fingerprint& client, TierChoice tier, std::uint64_t cost, std::int64_t now) const {
  if (!ready()) return not_ready();
  std::uint32_t definition = 0;
  const Slot* const slot = table_.find(client);
  Judgement judgement = stepped(look_up(client, tier, cost, definition), slot, cost, now);
  if (judgement.status != Judgement::Status::admitted) return judgement;
  if (slot == nullptr && !table_.has_room(client)) {
    const Candidate candidate = first_to_go(client, now);
    if (turned_away(candidate)) return table_full(judgement, candidate, now);
  }
  judgement.state.balance += static_cast<std::int64_t>(cost) * judgement.limit->unit;  // The step charged it.
  return judgement;
}

Judgement TierLimiter::table_full(Judgement judgement, const Candidate& candidate, std::int64_t now) const noexcept {
  judgement.status = Judgement::Status::denied;
  judgement.reason = Reason::table_full;
  judgement.state = full_bucket(*judgement.limit, now);
  judgement.wait = options_.sweep ? candidate.wait : never;
  return judgement;
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

// The bucket's state in the credits of `limit`.
BucketState TierLimiter::state_under(const Slot& slot, const Limit& limit) const noexcept {
  return {move_balance(slot.state.balance, definitions_[slot.definition].limit, limit), slot.state.touched};
}

LimiterStats TierLimiter::stats() const {
  LimiterStats stats = stats_;
  stats.buckets = table_.size();
  stats.bytes = table_.bytes();
  stats.assignments = directory_.assignments();
  return stats;
}

// ---- Remembering and forgetting ------------------------------------------------------------------------------------

void TierLimiter::use(Slot& slot, std::uint32_t definition) noexcept {
  if (slot.definition == definition) return;
  ++definitions_[definition].users;
  if (slot.definition != 0) {
    if (definitions_[slot.definition].tier != definitions_[definition].tier) slot.several_tiers = 1;
    release(slot.definition);
  }
  slot.definition = definition & 0x7fff'ffff;
}

void TierLimiter::forget(Slot& slot) noexcept {
  release(slot.definition);
  table_.erase(slot);
}

void TierLimiter::forget_full(Slot& slot, std::int64_t now) noexcept {
  swept_at_ = std::max(swept_at_, now);
  ++stats_.swept;
  forget(slot);
}

void TierLimiter::release(std::uint32_t definition) noexcept {
  Definition& released = definitions_[definition];
  if (--released.users != 0) return;
  if (released.tier != no_tier) directory_.release(released.tier);
  unused_definitions_.push_back(definition);
}

// Microseconds until nobody can tell the client from one never seen: its bucket is full under the limit that last
// judged it, under the present limit of the same tier, and under that of the tier it has now when none is named. Where
// several tiers have judged it, any may be named again: then it has to be full under every limit in force. Otherwise a
// client could fill its bucket under a small limit, be forgotten, and start full under a large one, again and again.
std::uint64_t TierLimiter::time_to_full(const Slot& slot, std::int64_t now) const noexcept {
  if (now < slot.state.touched) return never;
  const auto judging = [this](TierId tier) {
    return tier == no_tier ? default_definition_ : directory_[tier].definition;
  };
  const std::uint32_t present = judging(definitions_[slot.definition].tier);
  const std::uint32_t untold = judging(directory_.assigned(slot.client).value_or(no_tier));
  const auto wait_under = [&](std::uint32_t definition) {
    const Limit& limit = definitions_[definition].limit;
    return time_until(limit, accrued(limit, state_under(slot, limit), now), limit.full);
  };
  std::uint64_t longest = wait_under(slot.definition);
  if (present != slot.definition) longest = std::max(longest, wait_under(present));
  if (untold != present) longest = std::max(longest, wait_under(untold));
  if (slot.several_tiers == 0) return longest;
  if (document_definitions_.size() > most_limits_compared) return never;
  for (const std::uint32_t definition : document_definitions_) longest = std::max(longest, wait_under(definition));
  return longest;
}

void TierLimiter::sweep(std::int64_t now) noexcept {
  std::uint32_t due = std::exchange(sweep_due_, 0);
  if (!options_.sweep) return;
  for (; due > 0; --due) {
    Slot& slot = table_.at(sweep_at_);
    // A client that was there since the last round would most likely be back as soon as it is forgotten. And most slots
    // are empty or far from full, which the limit that last judged tells at once.
    if (slot.definition != 0 && slot.state.touched < round_began_) {
      const Limit& limit = definitions_[slot.definition].limit;
      if (accrued(limit, slot.state, now) == limit.full && time_to_full(slot, now) == 0) {
        // Another may move into its place.
        forget_full(slot, now);
        continue;
      }
    }
    if (table_.advance(sweep_at_)) round_began_ = now;
  }
}

// Of a sample of buckets the one to forget first: that will be full soonest, or of those that never will the one that
// was not touched for longest. The sample starts where the client's own slot would be, so that the same client looks at
// the same ones when it comes back. Null in an empty table.
TierLimiter::Candidate TierLimiter::first_to_go(const Fingerprint& client, std::int64_t now) const noexcept {
  Candidate first{nullptr, never};
  table_.near(client, eviction_sample, [&](Slot& slot) {
    const std::uint64_t wait = time_to_full(slot, now);
    if (first.slot == nullptr || wait < first.wait ||
        (wait == first.wait && slot.state.touched < first.slot->state.touched)) {
      first = {&slot, wait};
    }
  });
  return first;
}

// Whether a new client has to be refused while the table has no room and `candidate` is the first to go.
bool TierLimiter::turned_away(const Candidate& candidate) const noexcept {
  if (candidate.slot == nullptr) return true;
  return options_.on_full == LimiterOptions::OnFull::deny && !(options_.sweep && candidate.wait == 0);
}

// A slot for a client that has none, at the expense of the candidate.
Slot* TierLimiter::make_room(const Fingerprint& client, const Candidate& candidate, std::int64_t now) noexcept {
  Slot& slot = *candidate.slot;
  if (options_.sweep && candidate.wait == 0) {
    forget_full(slot, now);
  } else {
    const Limit& limit = definitions_[slot.definition].limit;
    const std::int64_t balance = now < slot.state.touched ? slot.state.balance : accrued(limit, slot.state, now);
    ++stats_.evictions;
    stats_.evicted_tokens += static_cast<double>(limit.full - balance) / static_cast<double>(limit.unit);
    forget(slot);
  }
  return table_.insert(client);
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
  Result<PolicySet, std::vector<Error>> policies = PolicySet::from_json(json, options_.strict);
  if (!policies) return std::move(policies.error());
  if (!memory_available(room_to_install(policies.value()))) {
    return std::vector{failure(ErrorCode::out_of_memory, "the policy document does not fit into memory")};
  }
  install(std::move(policies.value()));
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
    if (unused_definitions_.empty()) {
      unused_definitions_.push_back(static_cast<std::uint32_t>(definitions_.size()));
      definitions_.emplace_back();
      // Decisions give limits back, and must not need memory for it.
      unused_definitions_.reserve(definitions_.capacity());
    }
    present = unused_definitions_.back();
    unused_definitions_.pop_back();
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

  definitions.push_back(define(no_tier, default_definition_, policies.default_policy.limit));
  default_definition_ = definitions.front();
  for (const Tier& tier : policies.tiers) {
    const TierId id = directory_.acquire(tier.name);
    tiers.push_back(id);
    judged_by.push_back(tier.policy ? define(id, directory_[id].definition, tier.policy->limit) : 0);
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
