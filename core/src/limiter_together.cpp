// SPDX-License-Identifier: MIT
// Decisions by several limits: all of them are charged, or none is. And what gives tokens back.
#include <algorithm>
#include <utility>

#include "sweep.hpp"
#include "tierlimit/limiter.hpp"
#include "verdict.hpp"

namespace tierlimit {

// ---- Members -------------------------------------------------------------------------------------------------------

// The earliest time at which a bucket may be judged by a limit. Where the time since the last touch accrues in parts, a
// change of the policies is like a touch of all.
std::int64_t TierLimiter::earliest(const Slot* slot, const Limit& limit) const noexcept {
  const std::int64_t touched = earliest(slot);
  return limit.accrual == Accrual::prorated ? std::max(touched, revisions_.back().began) : touched;
}

std::int64_t TierLimiter::earliest(const Fingerprint& client, TierChoice tier) noexcept {
  const Judge judge = judge_of(client, tier);
  return (judge & together) == 0 ? earliest(table_.seek(client)) : find_members(client, judge);
}

// What judges a client; not for every decision.
TierLimiter::Judge TierLimiter::judge_of(const Fingerprint& client, TierChoice tier) const noexcept {
  return tier.number == TierChoice::assigned ? judge_of(directory_.own(client).value_or(no_tier)) : judge_of(tier);
}

// A bucket of the kind that it is looked for as. Another one with the same 96 bits there is by no chance, but out of a
// snapshot that somebody made: it is forgotten.
Slot* TierLimiter::own(Slot* slot, std::uint32_t kind) noexcept {
  if (slot == nullptr || definitions_[slot->definition].kind == kind) return slot;
  forget(*slot);
  return nullptr;
}

// The members that `judge` is made of; returns the earliest time at which all of them may be judged.
std::int64_t TierLimiter::find_members(const Fingerprint& client, Judge judge) noexcept {
  members_judge_ = judge;
  member_count_ = size_of(judge);
  std::int64_t latest = -max_micros;
  for (std::uint32_t i = 0; i < member_count_; ++i) {
    Member& member = members_[i];
    member = {};
    member.definition = definition_in(judge, i);
    const Definition& definition = definitions_[member.definition];
    member.bucket = client ^ kinds_[definition.kind].key;
    const Slot* const slot = own(table_.seek(member.bucket), definition.kind);
    member.present = slot != nullptr;
    latest = std::max(latest, earliest(slot, definition.limit));
  }
  return latest;
}

const Limit& TierLimiter::limit_of(const Member& member) const noexcept {
  return definitions_[member.definition].limit;
}

// The member's state at `now`.
void TierLimiter::bring_up(Member& member, std::int64_t now, OnRaise raise) const noexcept {
  const Slot* const slot = table_.seek(member.bucket);
  const Limit& limit = limit_of(member);
  member.state =
      slot == nullptr ? unused_bucket(limit, now) : state_at(limit, state_under(*slot, member.definition, raise), now);
}

// ---- Decisions -----------------------------------------------------------------------------------------------------

void TierLimiter::decide_together(Judgement& judgement, const Fingerprint& client, Judge judge, OnRaise raise,
                                  std::uint64_t cost, std::int64_t now, bool store) noexcept {
  const std::int64_t latest = find_members(client, judge);
  if (now < latest) {
    judgement.status = Judgement::Status::clock;
    judgement.state.touched = latest;
    return;
  }
  judgement.limits = member_count_;
  judgement.status = Judgement::Status::admitted;
  for (std::uint32_t i = 0; i < member_count_; ++i) {
    Member& member = members_[i];
    bring_up(member, now, raise);
    member.verdict = step_by(limit_of(member), member.state, now, cost).verdict;
    if (member.verdict != Outcome::Verdict::admitted) judgement.status = Judgement::Status::denied;
  }
  const bool admitted = judgement.status == Judgement::Status::admitted;
  if (admitted && !(store ? make_members(judgement, client, cost, now) : foresee_members(judgement, client, now))) {
    measure(judgement, cost, now);
    if (store) {
      ++stats_.table_full;
      ++stats_.denied;
    }
    return;
  }
  if (store) {
    if (raise != OnRaise::keep) directory_.set_raise(client, OnRaise::keep);
    for (std::uint32_t i = 0; i < member_count_; ++i) {
      Member& member = members_[i];
      // What is denied takes nobody's place.
      if (table_.seek(member.bucket) == nullptr && !insert(member)) continue;
      store_member(member, admitted ? cost : 0, now);
    }
  }
  measure(judgement, cost, now);
  if (store) decided(admitted, now);
}

// A slot for the member's bucket where there is room.
bool TierLimiter::insert(Member& member) noexcept {
  Slot* const slot = table_.insert(member.bucket);
  if (slot == nullptr) return false;
  sweep_due_ += work_per_new_bucket;
  take_in(member, *slot);
  return true;
}

void TierLimiter::take_in(Member& member, Slot& slot) noexcept {
  use(slot, member.definition);
  slot.state = member.state;
}

// Makes room for all that an admission stores; false, with the judgement saying so, where there is not enough.
bool TierLimiter::make_members(Judgement& judgement, const Fingerprint& client, std::uint64_t cost,
                               std::int64_t now) noexcept {
  bool enough = true;
  for (std::uint32_t i = 0; i < member_count_; ++i) {
    Member& member = members_[i];
    if (enough || !member.present) enough = make(judgement, member, client, cost, now) && enough;
  }
  if (enough) return true;
  for (std::uint32_t i = 0; i < member_count_; ++i) {
    Slot* const slot = members_[i].present ? nullptr : table_.seek(members_[i].bucket);
    if (slot != nullptr) forget(*slot);
  }
  return false;
}

// The same for one of them.
bool TierLimiter::make(Judgement& judgement, Member& member, const Fingerprint& client, std::uint64_t cost,
                       std::int64_t now) noexcept {
  const Limit& limit = limit_of(member);
  Candidate candidate;
  if (table_.seek(member.bucket) == nullptr && !insert(member)) {
    const BucketState charged = step_by(limit, member.state, now, cost).state;
    Slot* const slot = room_for(client, member.bucket, limit, charged, longest_of(members_judge_), now, candidate);
    if (slot != nullptr) take_in(member, *slot);
  }
  const bool made =
      table_.seek(member.bucket) != nullptr &&
      (limit.algorithm != Algorithm::sliding_window || room_in_log(member.bucket, limit, client, now, candidate));
  // Its log may have become another. (That of one which was not there goes again where there is no room for all.)
  if (member.present && limit.algorithm == Algorithm::sliding_window) {
    member.state.balance = table_.seek(member.bucket)->state.balance;
  }
  if (!made) turn_away(judgement, member, candidate);
  return made;
}

void TierLimiter::turn_away(Judgement& judgement, const Member& member, const Candidate& candidate) noexcept {
  if (candidate.slot != nullptr) counted_on_[counted_on_count_++] = candidate.slot->client;
  if (judgement.reason != Reason::table_full) judgement.binding = static_cast<std::uint32_t>(&member - members_.data());
  table_full(judgement, candidate);
}

// Whether `make_members` would find room, with nothing made. Where buckets may be evicted it does.
bool TierLimiter::foresee_members(Judgement& judgement, const Fingerprint& client, std::int64_t now) noexcept {
  std::uint32_t more = 0;
  for (std::uint32_t i = 0; i < member_count_; ++i) {
    const Member& member = members_[i];
    const bool lacks_place = !member.present && !table_.has_room(member.bucket, more);
    if (!member.present && !lacks_place) ++more;
    const bool lacks_log = !lacks_place && !has_room_in_log(member, now);
    if (!lacks_place && !lacks_log) continue;
    const Candidate candidate = first_to_go(client, member.bucket, eviction_sample, now, lacks_log);
    if (turned_away(candidate)) {
      turn_away(judgement, member, candidate);
    } else {
      counted_on_[counted_on_count_++] = candidate.slot->client;
    }
  }
  return judgement.reason != Reason::table_full;
}

// Writes a member's state into its slot, and charges it.
void TierLimiter::store_member(Member& member, std::uint64_t charge, std::int64_t now) noexcept {
  const Limit& limit = limit_of(member);
  Slot& slot = *table_.seek(member.bucket);
  if (slot.definition != member.definition) use(slot, member.definition);
  if (limit.algorithm == Algorithm::sliding_window) {
    // By its slot: the log may have become another to have room.
    WindowLog* const log = sliding_window::log_of(slot.state);
    member.state.balance = slot.state.balance;
    if (log != nullptr) log->drop(sliding_window::live(limit, log, now).expired);
    if (charge != 0 && log != nullptr) log->add(now, static_cast<std::int64_t>(charge));
  } else if (charge != 0) {
    member.state = step_by(limit, member.state, now, charge).state;
  }
  slot.state = member.state;
}

// What there is to tell of each limit, and which of them binds.
void TierLimiter::measure(Judgement& judgement, std::uint64_t cost, std::int64_t now) noexcept {
  counted_on_count_ = 0;
  const bool is_full = judgement.reason == Reason::table_full;
  const bool admitted = judgement.status == Judgement::Status::admitted;
  double least = 0;
  for (std::uint32_t i = 0; i < member_count_; ++i) {
    Member& member = members_[i];
    const Limit& limit = limit_of(member);
    member.remaining = remaining(limit, member.state, now);
    member.reset = tierlimit::time_to_full(limit, member.state, now);
    member.more = time_to_more(limit, member.state, member.remaining, now);
    switch (member.verdict) {
      case Outcome::Verdict::admitted: member.retry = 0; break;
      case Outcome::Verdict::exhausted: member.retry = time_to_admit(limit, member.state, cost, now); break;
      default: member.retry = never;
    }
    if (is_full) continue;
    const double left = static_cast<double>(member.remaining) / limit.capacity;
    const Member& binding = members_[judgement.binding];
    if (i == 0 || (admitted ? left < least : member.retry > binding.retry)) {
      judgement.binding = i;
      least = left;
    }
  }
  Member& binding = members_[judgement.binding];
  if (is_full)
    binding.retry = judgement.wait;
  else
    judgement.reason = reason_of(binding.verdict);
  judgement.limit = &limit_of(binding);
  judgement.state = binding.state;
}

// What stands for the limits that judged last; 0: the one of a plain policy.
Hold::Limits TierLimiter::judged_together(std::uint32_t limits) const noexcept {
  Hold::Limits judged;
  judged.count = std::max(limits, std::uint32_t{1});
  for (std::uint32_t i = 0; i < limits; ++i) judged.keys[i] = kinds_[definitions_[members_[i].definition].kind].key;
  return judged;
}

Hold TierLimiter::hold(const Judgement& judgement, std::uint64_t cost, std::int64_t now) const noexcept {
  Hold hold;
  hold.cost = cost;
  hold.at = now;
  hold.limits = judged_together(judgement.limits);
  if (shadow_allows_) {
    hold.in_shadow = shadow_->judged_together(shadow_limits_);
    hold.shadow = shadow_number_;
  }
  return hold;
}

// ---- After the decision --------------------------------------------------------------------------------------------

// Puts tokens back, or charges more: what there is. Into the limits that were charged before, or (null) into all.
TierLimiter::Adjusted TierLimiter::adjust(const Fingerprint& client, TierChoice tier, std::int64_t change,
                                          std::int64_t now, const Hold* hold, const Hold::Limits* charged) noexcept {
  Adjusted adjusted;
  if (!ready()) {
    adjusted.status = revision_ == 0 ? Judgement::Status::no_policies : Judgement::Status::not_seeded;
    return adjusted;
  }
  adjusted.earliest = find_members(client, judge_of(client, tier));
  if (now < adjusted.earliest) {
    adjusted.status = Judgement::Status::clock;
    return adjusted;
  }
  // What waits to be raised is raised now: after this its limit is the present one.
  const OnRaise raise = raise_of(client, tier);
  if (raise != OnRaise::keep) static_cast<void>(directory_.set_raise(client, OnRaise::keep));
  for (std::uint32_t i = 0; i < member_count_; ++i) {
    Member& member = members_[i];
    const Fingerprint key = kinds_[definitions_[member.definition].kind].key;
    bring_up(member, now, raise);
    const Fingerprint* const keys = charged == nullptr ? &key : charged->keys.data();
    const Fingerprint* const end = keys + (charged == nullptr ? 1 : charged->count);
    if (std::find(keys, end, key) == end) {
      if (raise != OnRaise::keep && member.present) store_member(member, 0, now);
    } else if (change < 0) {
      const std::int64_t taken = charge_more(member, client, -change, now);
      adjusted.debt = std::max(adjusted.debt, static_cast<std::uint64_t>(-change - taken));
    } else if (member.present) {
      put_back_into(member, change, now, hold);
    }
  }
  if (shadow_ != nullptr && (hold == nullptr || hold->shadow == shadow_number_)) {
    const Hold::Limits* const in_shadow_charged = hold == nullptr ? nullptr : &hold->in_shadow;
    static_cast<void>(shadow_->adjust(client, in_shadow(tier), change, now, hold, in_shadow_charged));
  }
  counted_on_count_ = 0;
  return adjusted;
}

// Charges as many whole tokens as there are, up to so many.
std::int64_t TierLimiter::charge_more(Member& member, const Fingerprint& client, std::int64_t tokens,
                                      std::int64_t now) noexcept {
  const std::int64_t charge = std::min(tokens, remaining(limit_of(member), member.state, now));
  Judgement nobody;
  if (charge == 0) {
    if (member.present) store_member(member, 0, now);
    return 0;
  }
  if (!make(nobody, member, client, static_cast<std::uint64_t>(charge), now)) return 0;
  store_member(member, static_cast<std::uint64_t>(charge), now);
  return charge;
}

void TierLimiter::put_back_into(Member& member, std::int64_t tokens, std::int64_t now, const Hold* hold) noexcept {
  const Limit& limit = limit_of(member);
  BucketState& state = member.state;
  switch (limit.algorithm) {
    case Algorithm::token_bucket:
      state.balance = tokens > limit.whole || limit.full - state.balance < tokens * limit.unit
                          ? limit.full
                          : state.balance + tokens * limit.unit;
      break;
    case Algorithm::fixed_window:
      // What was charged in a window that has ended is in none any more.
      if (hold == nullptr || hold->at >= state.touched)
        state.balance = std::max(std::int64_t{0}, state.balance - tokens);
      if (state.balance == 0) state.touched = now;
      break;
    case Algorithm::sliding_window: break;
  }
  store_member(member, 0, now);
  WindowLog* const log = log_of(*table_.seek(member.bucket));
  if (log == nullptr) return;
  const std::int64_t at = hold == nullptr ? now : hold->at;
  if (static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(at) >= limit.fill) return;
  // From where it was charged, as far as that is known; then the oldest first, so that what stays counts for longest.
  for (std::uint32_t i = 0; hold != nullptr && i < log->size(); ++i) {
    if (log->time(i) == at) tokens -= log->take(i, tokens);
  }
  for (std::uint32_t i = 0; i < log->size(); ++i) tokens -= log->take(i, tokens);
  log->tidy();
}

}  // namespace tierlimit
