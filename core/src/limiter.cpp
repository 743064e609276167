// SPDX-License-Identifier: MIT
// What every decision runs through; the rest of the limiter is in limiter_policies.cpp. The WebAssembly module is built
// for speed here and for size there.
#include "tierlimit/limiter.hpp"

#include <algorithm>
#include <utility>

namespace tierlimit {
namespace {

// What each decision adds to the sweep's work, and what a slot takes of it. A bucket that is full is kept for up to
// three rounds of the sweep, and a round is over some 1.8 slots for each bucket; so a new client has seven slots swept.
// (With five a steady stream of new clients was seen to make the table grow without end.)
constexpr std::uint32_t work_per_decision = 1;
constexpr std::uint32_t work_per_new_client = 14;
constexpr std::uint32_t work_per_slot = 2;
// So many slots at a time, since a row of them is fetched from memory at little more than the cost of one.
constexpr std::uint32_t slots_swept_together = 32;
constexpr std::uint32_t eviction_sample = 8;
// So many where all of those have spent more than the new client: rather look further than reset one of them.
constexpr std::uint32_t wide_eviction_sample = 64;
// Among more limits than this a bucket that several tiers have judged is not compared with each: it is kept.
constexpr std::size_t most_limits_compared = 64;

bool failed(const Judgement& judgement) noexcept {
  return judgement.status != Judgement::Status::admitted && judgement.status != Judgement::Status::denied;
}

// What forgetting a bucket comes to, for comparing: its microseconds until it is full; more than all of those for one
// that will not be, by the whole tokens that it lacks, so that those who spend little in it reset nobody who spent all.
constexpr std::uint64_t never_full = std::uint64_t{1} << 63;
std::uint64_t loss(std::uint64_t wait, const Limit& limit, std::int64_t balance) noexcept {
  return wait != never ? wait : never_full + static_cast<std::uint64_t>((limit.full - balance) / limit.unit);
}

}  // namespace

// ---- Decisions -----------------------------------------------------------------------------------------------------

// The choice of a tier, the client's own looked up.
[[gnu::always_inline]] inline TierChoice TierLimiter::looked_up(const Fingerprint& client,
                                                                TierChoice tier) const noexcept {
  if (tier.number != TierChoice::assigned || !directory_.assigns()) return tier;
  const std::optional<TierId> own = directory_.assigned(client);
  return own ? TierChoice{static_cast<std::int32_t>(*own)} : tier;
}

[[gnu::always_inline]] inline std::uint32_t TierLimiter::definition_of(TierChoice tier) const noexcept {
  return tier.number >= 0 ? directory_[static_cast<TierId>(tier.number)].definition : default_definition_;
}

// Which limit judges the request, and what stands in the way of judging it.
[[gnu::always_inline]] inline void TierLimiter::look_up(Judgement& judgement, const Fingerprint& client,
                                                        TierChoice tier, std::uint64_t cost,
                                                        std::uint32_t& definition) const noexcept {
  if (cost == 0 || cost > max_cost) judgement.status = Judgement::Status::invalid_cost;
  tier = looked_up(client, tier);
  judgement.fallback = tier.number == TierChoice::unknown ? Fallback::unknown_tier : Fallback::no_tier;
  if (tier.number >= 0) {
    judgement.has_tier = true;
    judgement.tier = static_cast<TierId>(tier.number);
    judgement.fallback = directory_[judgement.tier].fallback;
  }
  definition = definition_of(tier);
  judgement.limit = &definitions_[definition].limit;
}

// The step that the client's bucket takes, `slot` or a new one.
[[gnu::always_inline]] inline void TierLimiter::take_step(Judgement& judgement, const Slot* slot,
                                                          std::uint32_t definition, std::uint64_t cost,
                                                          std::int64_t now) const noexcept {
  if (failed(judgement)) return;
  if (now < earliest(slot)) {
    judgement.status = Judgement::Status::clock;
    judgement.state.touched = earliest(slot);
    return;
  }
  const Limit& limit = *judgement.limit;
  const BucketState before = slot == nullptr                  ? full_bucket(limit, now)
                             : slot->definition == definition ? slot->state
                                                              : state_under(*slot, limit);
  const Outcome outcome = step(limit, before, now, cost);
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
}

Judgement TierLimiter::not_ready() const noexcept {
  Judgement judgement;
  judgement.status = revision_ == 0 ? Judgement::Status::no_policies : Judgement::Status::not_seeded;
  return judgement;
}

Judgement TierLimiter::judge(const Fingerprint& client, TierChoice tier, std::uint64_t cost, std::int64_t now) {
  if (!ready()) return not_ready();
  Judgement judgement;
  std::uint32_t definition = 0;
  Slot* slot = table_.find(client);
  look_up(judgement, client, tier, cost, definition);
  take_step(judgement, slot, definition, cost, now);
  if (failed(judgement)) return judgement;

  if (slot == nullptr) slot = slot_for_new(judgement, client, now);
  if (slot == nullptr) {
    // Nothing is swept: that would make room earlier than the client was told.
    ++stats_.denied;
    return judgement;
  }
  if (slot->definition != definition) use(*slot, definition);
  slot->state = judgement.state;
  decided(judgement.status == Judgement::Status::admitted, now);
  return judgement;
}

Judgement::Status TierLimiter::admit(const Fingerprint& client, TierChoice tier, std::uint64_t cost, std::int64_t now) {
  // The usual request, of a client with a bucket whose limit has not changed, by the shortest way.
  Slot* const slot = table_.find(client);
  if (slot != nullptr && now >= slot->state.touched && cost - 1 < max_cost) {
    const std::uint32_t definition = definition_of(looked_up(client, tier));
    if (slot->definition == definition) {
      const Outcome outcome = step(definitions_[definition].limit, slot->state, now, cost);
      slot->state = outcome.state;
      const bool admitted = outcome.verdict == Outcome::Verdict::admitted;
      decided(admitted, now);
      return admitted ? Judgement::Status::admitted : Judgement::Status::denied;
    }
  }
  return judge(client, tier, cost, now).status;
}

// Counts a decision, and sweeps when it is time.
[[gnu::always_inline]] inline void TierLimiter::decided(bool admitted, std::int64_t now) noexcept {
  ++(admitted ? stats_.allowed : stats_.denied);
  sweep_due_ += work_per_decision;
  if (sweep_due_ >= slots_swept_together * work_per_slot) sweep(now);
}

// A slot for a client that has none. Null where it is to be denied without one.
[[gnu::noinline]] Slot* TierLimiter::slot_for_new(Judgement& judgement, const Fingerprint& client,
                                                  std::int64_t now) noexcept {
  Slot* const slot = table_.insert(client);
  if (slot != nullptr) {
    sweep_due_ += work_per_new_client;
    return slot;
  }
  // The cost of a client never seen is above the capacity: its bucket stays full, so there is nothing to remember.
  if (judgement.status == Judgement::Status::denied) return nullptr;
  Candidate candidate = first_to_go(client, eviction_sample, now);
  if (turned_away(candidate)) {
    ++stats_.table_full;
    table_full(judgement, candidate, now);
    return nullptr;
  }
  const Limit& limit = *judgement.limit;
  const std::int64_t balance = judgement.state.balance;
  if (candidate.loss > loss(time_until(limit, balance, limit.full), limit, balance)) {
    candidate = first_to_go(client, wide_eviction_sample, now);
  }
  return make_room(client, candidate, now);
}

std::int64_t TierLimiter::earliest(const Fingerprint& client) const noexcept { return earliest(table_.find(client)); }

Judgement TierLimiter::preview(const Fingerprint& client, TierChoice tier, std::uint64_t cost, std::int64_t now) const {
  if (!ready()) return not_ready();
  Judgement judgement;
  std::uint32_t definition = 0;
  const Slot* const slot = table_.find(client);
  look_up(judgement, client, tier, cost, definition);
  take_step(judgement, slot, definition, cost, now);
  if (judgement.status != Judgement::Status::admitted) return judgement;
  if (slot == nullptr && !table_.has_room(client)) {
    const Candidate candidate = first_to_go(client, eviction_sample, now);
    if (turned_away(candidate)) {
      table_full(judgement, candidate, now);
      return judgement;
    }
  }
  judgement.state.balance += static_cast<std::int64_t>(cost) * judgement.limit->unit;  // The step charged it.
  return judgement;
}

void TierLimiter::table_full(Judgement& judgement, const Candidate& candidate, std::int64_t now) const noexcept {
  judgement.status = Judgement::Status::denied;
  judgement.reason = Reason::table_full;
  judgement.state = full_bucket(*judgement.limit, now);
  judgement.wait = options_.sweep && candidate.loss < never_full ? candidate.loss : never;
}

// The bucket's state in the credits of `limit`.
BucketState TierLimiter::state_under(const Slot& slot, const Limit& limit) const noexcept {
  return {move_balance(slot.state.balance, definitions_[slot.definition].limit, limit), slot.state.touched};
}

// ---- Remembering and forgetting ------------------------------------------------------------------------------------

[[gnu::noinline]] void TierLimiter::use(Slot& slot, std::uint32_t definition) noexcept {
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

// Visits the limits by which a client may be judged next: the one that last judged it, the present one of the same
// tier, and that of the tier it has now when none is named. Where several tiers have judged it, any may be named again.
// (Some come twice.)
template <class Visit>
void TierLimiter::each_possible(const Slot& slot, Visit visit) const noexcept {
  const auto judging = [this](TierId tier) {
    return tier == no_tier ? default_definition_ : directory_[tier].definition;
  };
  const std::uint32_t present = judging(definitions_[slot.definition].tier);
  const std::uint32_t untold = judging(directory_.assigned(slot.client).value_or(no_tier));
  visit(slot.definition);
  if (present != slot.definition) visit(present);
  if (untold != present) visit(untold);
  if (slot.several_tiers == 0) return;
  for (const std::uint32_t definition : document_definitions_) visit(definition);
}

// Microseconds until nobody can tell the client from one never seen: its bucket is full under every limit by which it
// may be judged. Otherwise a client could fill its bucket under a small limit, be forgotten, and start full under a
// large one, again and again.
std::uint64_t TierLimiter::time_to_full(const Slot& slot, std::int64_t now) const noexcept {
  if (now < slot.state.touched) return never;
  if (slot.several_tiers != 0 && document_definitions_.size() > most_limits_compared) return never;
  std::uint64_t longest = 0;
  each_possible(slot, [&](std::uint32_t definition) {
    const Limit& limit = definitions_[definition].limit;
    longest = std::max(longest, time_until(limit, accrued(limit, state_under(slot, limit), now), limit.full));
  });
  return longest;
}

// The most tokens that the client gets back when its bucket is forgotten.
double TierLimiter::given_away(const Slot& slot, std::int64_t now) const noexcept {
  double most = 0;
  each_possible(slot, [&](std::uint32_t definition) {
    const Limit& limit = definitions_[definition].limit;
    const BucketState state = state_under(slot, limit);
    const std::int64_t balance = now < state.touched ? state.balance : accrued(limit, state, now);
    most = std::max(most, static_cast<double>(limit.full - balance) / static_cast<double>(limit.unit));
  });
  return most;
}

[[gnu::noinline]] void TierLimiter::sweep(std::int64_t now) noexcept {
  std::uint32_t slots = std::exchange(sweep_due_, 0) / work_per_slot;
  // Where the clock has stepped back behind an earlier sweep, a client that is forgotten would be too early at once,
  // even in the midst of a batch that has been found to be in time.
  if (!options_.sweep || table_.size() == 0 || now < swept_at_) return;
  for (; slots > 0; --slots) {
    Slot& slot = table_.at(sweep_at_);
    // A client that was there since the last round began would most likely be back as soon as it is forgotten. (Both
    // compared at once: whether a slot is in use is anybody's guess, that it was not touched for long is rare.)
    if (static_cast<unsigned>(slot.used()) & static_cast<unsigned>(slot.state.touched < last_round_began_)) {
      // That it is far from full the limit that last judged tells at once.
      const Limit& limit = definitions_[slot.definition].limit;
      if (accrued(limit, slot.state, now) == limit.full && time_to_full(slot, now) == 0) {
        // Another may move into its place.
        forget_full(slot, now);
        continue;
      }
    }
    if (table_.advance(sweep_at_)) last_round_began_ = std::exchange(round_began_, now);
  }
}

// The bucket's balance at a time, under the limit that last judged it.
std::int64_t TierLimiter::balance_of(const Slot& slot, std::int64_t now) const noexcept {
  return now < slot.state.touched ? slot.state.balance : accrued(definitions_[slot.definition].limit, slot.state, now);
}

// Of a sample of buckets the one to forget first: where the least is lost, and of equals the one that was not touched
// for longest. The sample starts where the client's own slot would be, so that the same client looks at the same ones
// when it comes back. Null in an empty table.
TierLimiter::Candidate TierLimiter::first_to_go(const Fingerprint& client, std::uint32_t sample,
                                                std::int64_t now) const noexcept {
  Candidate first{nullptr, never};
  table_.near(client, sample, [&](Slot& slot) {
    const std::uint64_t lost =
        loss(time_to_full(slot, now), definitions_[slot.definition].limit, balance_of(slot, now));
    if (first.slot == nullptr || lost < first.loss ||
        (lost == first.loss && slot.state.touched < first.slot->state.touched)) {
      first = {&slot, lost};
    }
  });
  return first;
}

// Whether a new client has to be refused while the table has no room and `candidate` is the first to go.
bool TierLimiter::turned_away(const Candidate& candidate) const noexcept {
  if (candidate.slot == nullptr) return true;
  return options_.on_full == LimiterOptions::OnFull::deny && !(options_.sweep && candidate.loss == 0);
}

// A slot for a client that has none, at the expense of the candidate.
Slot* TierLimiter::make_room(const Fingerprint& client, const Candidate& candidate, std::int64_t now) noexcept {
  Slot& slot = *candidate.slot;
  if (options_.sweep && candidate.loss == 0) {
    forget_full(slot, now);
  } else {
    ++stats_.evictions;
    stats_.evicted_tokens += given_away(slot, now);
    forget(slot);
  }
  return table_.insert(client);
}

}  // namespace tierlimit
