// SPDX-License-Identifier: MIT
// What of decisions is seldom: buckets that change their limit, are forgotten, or make room for others.
#include <algorithm>
#include <utility>

#include "tierlimit/limiter.hpp"

namespace tierlimit {
namespace {

constexpr std::uint32_t eviction_sample = 8;
// So many where all of those have spent more than the new client: rather look further than reset one of them.
constexpr std::uint32_t wide_eviction_sample = 64;
// Among more limits than this a bucket that several tiers have judged is not compared with each: it is kept.
constexpr std::size_t most_limits_compared = 64;

// What forgetting a bucket comes to, for comparing, is its microseconds until it is full. One that will not be comes to
// more than all of those, by the whole tokens that it lacks, so that those who spend little in it reset nobody who
// spent all.
constexpr std::uint64_t never_full = std::uint64_t{1} << 63;
std::uint64_t loss_for_good(const Limit& limit, std::int64_t balance) noexcept {
  return never_full + static_cast<std::uint64_t>((limit.full - balance) / limit.unit);
}

}  // namespace

// The bucket's state in the credits of `limit`.
BucketState TierLimiter::state_under(const Slot& slot, const Limit& limit) const noexcept {
  return {move_balance(slot.state.balance, definitions_[slot.definition].limit, limit), slot.state.touched};
}

// The bucket's balance at a time; as it was last seen, where that time is earlier.
std::int64_t TierLimiter::balance_under(const Limit& limit, const Slot& slot, std::int64_t now) const noexcept {
  const BucketState state = state_under(slot, limit);
  return now < state.touched ? state.balance : accrued(limit, state, now);
}

void TierLimiter::use(Slot& slot, std::uint32_t definition) noexcept {
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
  released.tier = std::exchange(unused_definition_, definition);
}

// Visits the limits by which a client may be judged next, each with the bucket's balance at `now` under it: the one
// that last judged it, the present one of the same tier, and that of the tier it has now when none is named. Where
// several tiers have judged it, any may be named again. (Some come twice.)
template <class Visit>
void TierLimiter::each_possible(const Slot& slot, std::int64_t now, Visit visit) const noexcept {
  const auto judging = [this](TierId tier) {
    return tier == no_tier ? default_definition_ : directory_[tier].definition;
  };
  const std::uint32_t present = judging(definitions_[slot.definition].tier);
  const std::uint32_t untold =
      judging(directory_.assigns() ? directory_.assigned(slot.client).value_or(no_tier) : no_tier);
  std::uint32_t own[3] = {slot.definition};
  std::size_t owned = 1;
  if (present != slot.definition) own[owned++] = present;
  if (untold != present) own[owned++] = untold;
  // In one loop, so that `visit` is compiled once.
  const std::size_t count = owned + (slot.several_tiers != 0 ? document_definitions_.size() : 0);
  for (std::size_t i = 0; i < count; ++i) {
    const Limit& limit = definitions_[i < owned ? own[i] : document_definitions_[i - owned]].limit;
    visit(limit, balance_under(limit, slot, now));
  }
}

// Microseconds until nobody can tell the client from one never seen: its bucket is full under every limit by which it
// may be judged. Otherwise a client could fill its bucket under a small limit, be forgotten, and start full under a
// large one, again and again.
std::uint64_t TierLimiter::time_to_full(const Slot& slot, std::int64_t now) const noexcept {
  if (now < slot.state.touched) return never;
  if (slot.several_tiers != 0 && document_definitions_.size() > most_limits_compared) return never;
  std::uint64_t longest = 0;
  each_possible(slot, now, [&](const Limit& limit, std::int64_t balance) {
    longest = std::max(longest, time_until(limit, balance, limit.full));
  });
  return longest;
}

// The most tokens that the client gets back when its bucket is forgotten.
double TierLimiter::given_away(const Slot& slot, std::int64_t now) const noexcept {
  double most = 0;
  each_possible(slot, now, [&](const Limit& limit, std::int64_t balance) {
    most = std::max(most, static_cast<double>(limit.full - balance) / static_cast<double>(limit.unit));
  });
  return most;
}

// ---- A full table -------------------------------------------------------------------------------------------------

// A slot for a client that has none, where the table has no room. Null where it is to be denied without one.
Slot* TierLimiter::room_for_new(Judgement& judgement, const Fingerprint& client, std::int64_t now) noexcept {
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
  const std::uint64_t wait = time_until(limit, balance, limit.full);
  if (candidate.loss > (wait != never ? wait : loss_for_good(limit, balance))) {
    candidate = first_to_go(client, wide_eviction_sample, now);
  }
  return make_room(client, candidate, now);
}

// What becomes of an admission that is only asked about: nothing is charged, but there has to be room.
void TierLimiter::foresee(Judgement& judgement, const Fingerprint& client, const Slot* slot, std::uint64_t cost,
                          std::int64_t now) const noexcept {
  if (slot == nullptr && !table_.has_room(client)) {
    const Candidate candidate = first_to_go(client, eviction_sample, now);
    if (turned_away(candidate)) {
      table_full(judgement, candidate, now);
      return;
    }
  }
  judgement.state.balance += static_cast<std::int64_t>(cost) * judgement.limit->unit;  // The step charged it.
}

void TierLimiter::table_full(Judgement& judgement, const Candidate& candidate, std::int64_t now) const noexcept {
  judgement.status = Judgement::Status::denied;
  judgement.reason = Reason::table_full;
  judgement.state = full_bucket(*judgement.limit, now);
  judgement.wait = options_.sweep && candidate.loss < never_full ? candidate.loss : never;
}

// Of a sample of buckets the one to forget first: where the least is lost, and of equals the one that was not touched
// for longest. The sample starts where the client's own slot would be, so that the same client looks at the same ones
// when it comes back. Null in an empty table.
TierLimiter::Candidate TierLimiter::first_to_go(const Fingerprint& client, std::uint32_t sample,
                                                std::int64_t now) const noexcept {
  Candidate first{nullptr, never};
  table_.near(client, sample, [&](Slot& slot) {
    std::uint64_t lost = time_to_full(slot, now);
    if (lost == never) {
      const Limit& limit = definitions_[slot.definition].limit;
      lost = loss_for_good(limit, balance_under(limit, slot, now));
    }
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
