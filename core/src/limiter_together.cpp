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
  if (admitted && !make_members(judgement, members_.data(), member_count_, client, cost, now, store)) {
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
      if (!member.present) sweep_due_ += work_per_new_bucket;
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
  use(*slot, member.definition);
  slot->state = member.state;
  return true;
}

// Makes room for all that an admission stores of some members; or, where nothing is to be stored, only looks whether
// there would be. False, with the judgement saying so, where there is not enough: then nobody has gone for it.
bool TierLimiter::make_members(Judgement& judgement, Member* first, std::uint32_t count, const Fingerprint& client,
                               std::uint64_t cost, std::int64_t now, bool stores) noexcept {
  bool enough;
  do {
    enough = plan(judgement, first, count, client, cost, now, false);
    if (enough && stores) let_go(now);
    // A very long log takes the place of more than can be counted on at once.
  } while (enough && stores && counts_on_more_);
  // Which of those that are full by then go for which member is another question then, where there are several: it is
  // asked until all find room, a few times.
  std::uint64_t more = enough || counted_on_count_ == 1 ? 0 : judgement.wait;
  for (int rounds = 0; more != 0 && rounds < 3 && judgement.wait < longest_wait; ++rounds) {
    Judgement then;
    count_on_nobody();
    static_cast<void>(plan(then, first, count, client, cost, now + static_cast<std::int64_t>(judgement.wait), true));
    more = counts_on_more_ ? never : then.wait;
    judgement.wait = more == never ? never : judgement.wait + more;
  }
  // Or there is nothing to promise.
  if (more != 0) judgement.wait = never;
  if (enough && stores && !make_planned(first, count, now)) {
    table_full(judgement, never);
    enough = false;
  }
  for (Member* member = first; stores && !enough && member != first + count; ++member) {
    Slot* const slot = member->present ? nullptr : table_.seek(member->bucket);
    if (slot != nullptr) forget(*slot);
  }
  count_on_nobody();
  return enough;
}

// Finds who has to go for some members, and how much memory they take more. Nothing is made.
bool TierLimiter::plan(Judgement& judgement, Member* first, std::uint32_t count, const Fingerprint& client,
                       std::uint64_t cost, std::int64_t now, bool waits) noexcept {
  bool enough = true;
  std::uint32_t inserted = 0;
  counts_on_more_ = false;
  for (Member* member = first; member != first + count; ++member) {
    const Limit& limit = limit_of(*member);
    if (!member->present) {
      const std::uint64_t growth = table_.growth_for(member->bucket, inserted);
      if (growth != BucketTable::no_room) {
        ++inserted;
        count_on_bytes(growth);
      } else {
        const BucketState charged = step_by(limit, member->state, now, cost).state;
        const Candidate candidate = place_for(client, member->bucket, limit, charged, longest_of(members_judge_), now);
        if (turned_away(candidate)) {
          enough = false;
          turn_away(judgement, *member, wait_for(candidate));
        }
        if (candidate.slot == nullptr) continue;
        count_on(*candidate.slot);
      }
    }
    if (limit.algorithm == Algorithm::sliding_window) enough = plan_log(judgement, *member, client, now, enough, waits);
  }
  return enough;
}

// Lets go who has to.
void TierLimiter::let_go(std::int64_t now) noexcept {
  for (std::uint32_t i = 0; i < counted_on_count_; ++i) make_room(*table_.seek(counted_on_[i]), now);
  count_on_nobody();
}

// Makes what is missing. False where there is less memory than was planned with.
bool TierLimiter::make_planned(Member* first, std::uint32_t count, std::int64_t now) noexcept {
  bool made = true;
  for (Member* member = first; made && member != first + count; ++member) {
    made = member->present || insert(*member);
    if (!made || limit_of(*member).algorithm != Algorithm::sliding_window) continue;
    BucketState& state = table_.seek(member->bucket)->state;
    made = make_log(limit_of(*member), state, now);
    // It may have become another. (That of one which was not there goes again where there is no room for all.)
    if (member->present) member->state.balance = state.balance;
  }
  return made;
}

// There is no room for a member for so long.
void TierLimiter::turn_away(Judgement& judgement, const Member& member, std::uint64_t wait) noexcept {
  if (judgement.reason != Reason::table_full) judgement.binding = static_cast<std::uint32_t>(&member - members_.data());
  table_full(judgement, wait);
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
  // Where none of the limits that were charged judges any more, there is nowhere to put anything back.
  if (change > 0) adjusted.left = static_cast<std::uint64_t>(change);
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
      adjusted.left = std::max(adjusted.left, static_cast<std::uint64_t>(-change - taken));
    } else {
      adjusted.left = 0;
      if (member.present) put_back_into(member, change, now, hold);
    }
  }
  if (shadow_ != nullptr && (hold == nullptr || hold->shadow == shadow_number_)) {
    const Hold::Limits* const in_shadow_charged = hold == nullptr ? nullptr : &hold->in_shadow;
    static_cast<void>(shadow_->adjust(client, in_shadow(tier), change, now, hold, in_shadow_charged));
  }
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
  if (!make_members(nobody, &member, 1, client, static_cast<std::uint64_t>(charge), now, true)) return 0;
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
