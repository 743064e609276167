// SPDX-License-Identifier: MIT
// What every decision runs through. The rest of the limiter is in limiter_room.cpp and limiter_policies.cpp: the
// WebAssembly module is built for speed here and for size there.
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

// `judge` where it is to be stored, else `preview`.
Judgement TierLimiter::decide(const Fingerprint& client, TierChoice tier, std::uint64_t cost, std::int64_t now,
                              bool store) noexcept {
  Judgement judgement;
  if (!ready()) {
    judgement.status = revision_ == 0 ? Judgement::Status::no_policies : Judgement::Status::not_seeded;
    return judgement;
  }
  tier = looked_up(client, tier);
  judgement.fallback = tier.number == TierChoice::unknown ? Fallback::unknown_tier : Fallback::no_tier;
  if (tier.number >= 0) {
    judgement.has_tier = true;
    judgement.tier = static_cast<TierId>(tier.number);
    judgement.fallback = directory_[judgement.tier].fallback;
  }
  const std::uint32_t definition = definition_of(tier);
  const Limit& limit = definitions_[definition].limit;
  judgement.limit = &limit;
  if (cost == 0 || cost > max_cost) {
    judgement.status = Judgement::Status::invalid_cost;
    return judgement;
  }
  Slot* slot = table_.find(client);
  if (now < earliest(slot)) {
    judgement.status = Judgement::Status::clock;
    judgement.state.touched = earliest(slot);
    return judgement;
  }
  const BucketState before = slot == nullptr                  ? full_bucket(limit, now)
                             : slot->definition == definition ? slot->state
                                                              : state_under(*slot, limit);
  const Outcome outcome = step(limit, before, now, cost);
  judgement.state = outcome.state;
  switch (outcome.verdict) {
    case Outcome::Verdict::admitted: judgement.status = Judgement::Status::admitted; break;
    case Outcome::Verdict::exhausted: judgement.reason = Reason::exhausted; break;
    case Outcome::Verdict::cost_exceeds_capacity: judgement.reason = Reason::cost_exceeds_capacity; break;
    case Outcome::Verdict::never_refills: judgement.reason = Reason::never_refills; break;
  }
  if (!store) {
    if (judgement.status == Judgement::Status::admitted) foresee(judgement, client, slot, cost, now);
    return judgement;
  }

  if (slot == nullptr) {
    slot = table_.insert(client);
    if (slot != nullptr) {
      sweep_due_ += work_per_new_client;
    } else {
      slot = room_for_new(judgement, client, now);
    }
  }
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

std::int64_t TierLimiter::earliest(const Fingerprint& client) const noexcept { return earliest(table_.find(client)); }

// ---- Remembering and forgetting ------------------------------------------------------------------------------------

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

}  // namespace tierlimit
