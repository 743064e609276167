// SPDX-License-Identifier: MIT
// What a decision by the one limit of a plain policy runs through. The rest of the limiter is in limiter_together.cpp,
// limiter_room.cpp, limiter_shadow.cpp and limiter_policies.cpp: the WebAssembly module is built for speed here and for
// size there.
#include "tierlimit/limiter.hpp"

#include <algorithm>
#include <utility>

#include "sweep.hpp"
#include "verdict.hpp"

namespace tierlimit {

// ---- Decisions -----------------------------------------------------------------------------------------------------

// `judge` where it is to be stored, else `preview`.
Judgement TierLimiter::decide(const Fingerprint& client, TierChoice asked, std::uint64_t cost, std::int64_t now,
                              bool store) noexcept {
  Judgement judgement;
  if (!ready()) {
    judgement.status = revision_ == 0 ? Judgement::Status::no_policies : Judgement::Status::not_seeded;
    return judgement;
  }
  const TierChoice tier = looked_up(client, asked);
  judgement.fallback = tier.number == TierChoice::unknown ? Fallback::unknown_tier : Fallback::no_tier;
  if (tier.number >= 0) {
    judgement.has_tier = true;
    judgement.tier = static_cast<TierId>(tier.number);
    judgement.fallback = directory_[judgement.tier].fallback;
  }
  if (cost == 0 || cost > max_cost) {
    judgement.status = Judgement::Status::invalid_cost;
    return judgement;
  }
  const Judge judge = judge_of(tier);
  const OnRaise raise = raise_of(client, asked);
  if ((judge & together) != 0 || raise != OnRaise::keep) {
    decide_together(judgement, client, judge, raise, cost, now, store);
  } else {
    decide_alone(judgement, client, judge, cost, now, store);
  }
  if (store && shadow_ != nullptr) shade(judgement, client, asked, cost, now);
  return judgement;
}

// By the one limit of a plain policy.
[[gnu::always_inline]] inline void TierLimiter::decide_alone(Judgement& judgement, const Fingerprint& client,
                                                             std::uint32_t definition, std::uint64_t cost,
                                                             std::int64_t now, bool store) noexcept {
  const Limit& limit = definitions_[definition].limit;
  judgement.limit = &limit;
  Slot* slot = table_.find(client);
  if (slot != nullptr && slot->definition != definition) slot = own(slot, definitions_[definition].kind);
  if (now < earliest(slot)) {
    judgement.status = Judgement::Status::clock;
    judgement.state.touched = earliest(slot);
    return;
  }
  const BucketState before = slot == nullptr                  ? full_bucket(limit, now)
                             : slot->definition == definition ? slot->state
                                                              : state_under(*slot, definition);
  const Outcome outcome = step(limit, before, now, cost);
  judgement.state = outcome.state;
  judgement.reason = reason_of(outcome.verdict);
  judgement.status =
      outcome.verdict == Outcome::Verdict::admitted ? Judgement::Status::admitted : Judgement::Status::denied;
  if (!store) {
    if (judgement.status == Judgement::Status::admitted) foresee(judgement, client, slot, cost, now);
    return;
  }

  if (slot == nullptr) {
    slot = table_.insert(client);
    if (slot != nullptr) {
      sweep_due_ += work_per_new_bucket;
    } else {
      slot = room_for_new(judgement, client, now);
    }
  }
  if (slot == nullptr) {
    // Nothing is swept: that would make room earlier than the client was told.
    ++stats_.denied;
    return;
  }
  if (slot->definition != definition) use(*slot, definition);
  slot->state = judgement.state;
  decided(judgement.status == Judgement::Status::admitted, now);
}

Judgement::Status TierLimiter::admit(const Fingerprint& client, TierChoice tier, std::uint64_t cost, std::int64_t now) {
  // The usual request, of a client with a bucket whose limit has not changed, by the shortest way.
  Slot* const slot = table_.find(client);
  if (slot != nullptr && now >= slot->state.touched && cost - 1 < max_cost) {
    const bool raised = is_special_ && (shadow_ != nullptr || raise_of(client, tier) != OnRaise::keep);
    const Judge judge = raised ? 0 : judge_of(looked_up(client, tier));
    if (slot->definition == judge) {
      const Outcome outcome = step(definitions_[judge].limit, slot->state, now, cost);
      slot->state = outcome.state;
      const bool admitted = outcome.verdict == Outcome::Verdict::admitted;
      decided(admitted, now);
      return admitted ? Judgement::Status::admitted : Judgement::Status::denied;
    }
  }
  return judge(client, tier, cost, now).status;
}

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
