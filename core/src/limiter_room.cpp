// SPDX-License-Identifier: MIT
// What of decisions is seldom: buckets that change their limit, are forgotten, or make room for others.
#include <algorithm>
#include <utility>

#include "sweep.hpp"
#include "tierlimit/limiter.hpp"
#include "wide.hpp"

namespace tierlimit {
namespace {

// So many where all of those have spent more than the new client: rather look further than reset one of them.
constexpr std::uint32_t wide_eviction_sample = 64;
// Among more limits than this a bucket that several tiers have judged is not compared with each: it is kept.
constexpr std::size_t most_limits_compared = 64;
// The same of those of all documents that time has to be looked for in.
constexpr std::size_t most_limits_replayed = 512;
// For a log so many that are not full yet, at the most, are waited for.
constexpr std::uint32_t most_waited_for = 2;
// Of a new log.
constexpr std::uint32_t first_entries = 4;

// What forgetting a bucket comes to, for comparing, is its microseconds until it is full. One that will not be comes to
// more than all of those, by the whole tokens that it lacks, so that those who spend little in it reset nobody who
// spent all.
constexpr std::uint64_t never_full = std::uint64_t{1} << 63;
std::uint64_t loss_for_good(const Limit& limit, const BucketState& state, std::int64_t now) noexcept {
  return never_full + missing_whole(limit, state, now);
}

// What a wait weighs among those of others. Where several limits judge together, one that fills within seconds is reset
// for little, though the client has spent all of it, and one that takes a day for much, though it lacks a single token:
// so what counts is the part that is missing, as if all took as long as the longest. That goes for windows alone too: a
// window is over at the same time, whatever was spent in it.
std::uint64_t weight_of(const Limit& limit, const BucketState& state, std::int64_t now, std::uint64_t wait,
                        std::uint64_t longest) noexcept {
  if (longest == 0 || wait == 0 || wait == never) return wait;
  const bool fills = limit.algorithm == Algorithm::token_bucket;
  const std::uint64_t part = fills ? wait : missing_whole(limit, state, now);
  const std::uint64_t whole = fills ? limit.fill : static_cast<std::uint64_t>(limit.whole);
  return std::max(std::uint64_t{1}, std::min(multiply_divide(part, longest, whole), never_full - 1));
}

}  // namespace

// What the last limit left of a balance, by the present one; of the client's own accord, or as its tier became another.
std::int64_t TierLimiter::moved(std::int64_t balance, const Definition& last, const Definition& present,
                                OnRaise raise) const noexcept {
  if (&last == &present) return balance;
  // What `set_tier` asked for is for the move.
  if (last.tier == present.tier) raise = present.limit.on_raise;
  return move_balance(balance, last.limit, present.limit, raise);
}

// The bucket's state under a limit of its kind, as it was when it was touched; or, where each part of the time since
// then accrues by the rate that was in force, when the last document came into force.
BucketState TierLimiter::state_under(const Slot& slot, std::uint32_t definition, OnRaise raise) const noexcept {
  const Definition* last = &definitions_[slot.definition];
  const Definition& present = definitions_[definition];
  BucketState state = slot.state;
  if (present.limit.algorithm != Algorithm::token_bucket) return state;
  if (present.limit.accrual == Accrual::prorated) last = replay(state, last, present, raise);
  state.balance = moved(state.balance, *last, present, raise);
  return state;
}

// The same at a time; as it was last seen, where that time is earlier.
BucketState TierLimiter::seen_under(std::uint32_t definition, const Slot& slot, std::int64_t now) const noexcept {
  const BucketState state = state_under(slot, definition);
  return state_at(definitions_[definition].limit, state, std::max(now, state.touched));
}

void TierLimiter::use(Slot& slot, std::uint32_t definition) noexcept {
  ++definitions_[definition].users;
  if (slot.definition != 0) {
    if (definitions_[slot.definition].tier != definitions_[definition].tier) slot.several_tiers = 1;
    release(slot.definition);
  }
  slot.definition = definition & 0x7fff'ffff;
}

void TierLimiter::forget_log(const Slot& slot) noexcept {
  WindowLog* const log = log_of(slot);
  count_log(log, nullptr);
  WindowLog::free(log);
}

void TierLimiter::forget(Slot& slot) noexcept {
  const Fingerprint client = directory_.raises().size() == 0 ? Fingerprint{} : client_of(slot);
  forget_log(slot);
  release(slot.definition);
  table_.erase(slot);
  if (directory_.raise(client) != OnRaise::keep && !has_bucket(client)) {
    static_cast<void>(directory_.set_raise(client, OnRaise::keep));
  }
}

void TierLimiter::forget_full(Slot& slot, std::int64_t now) noexcept {
  swept_at_ = std::max(swept_at_, now);
  ++stats_.swept;
  forget(slot);
}

// Takes account of a log that has come in place of another; null: there is none.
void TierLimiter::count_log(const WindowLog* before, const WindowLog* after) noexcept {
  if (after != nullptr) log_bytes_ += WindowLog::bytes(after->capacity());
  if (before != nullptr) log_bytes_ -= WindowLog::bytes(before->capacity());
  // A quarter is kept for logs: a flood of buckets that have none must not leave those without room that need one.
  const std::uint64_t kept = keeps_logs_ ? options_.max_bytes / 4 : 0;
  table_.set_max_bytes(options_.max_bytes - std::max(log_bytes_ + counted_on_bytes_, kept));
}

void TierLimiter::release(std::uint32_t definition) noexcept {
  Definition& released = definitions_[definition];
  if (--released.users != 0) return;
  if (released.tier != no_tier) directory_.release(released.tier);
  --kinds_[released.kind].users;
  released.tier = std::exchange(unused_definition_, definition);
}

// Of what judges the limit of a kind; 0: there is none.
std::uint32_t TierLimiter::definition_of_kind(Judge judge, std::uint32_t kind) const noexcept {
  for (std::uint32_t i = size_of(judge); i > 0; --i) {
    const std::uint32_t definition = definition_in(judge, i - 1);
    if (definitions_[definition].kind == kind) return definition;
  }
  return 0;
}

// What forgetting a bucket comes to, by the limits by which it may be judged next: the one that last judged it, the
// present one of the same tier, and that of the tier that its client has now when none is named. Where several tiers
// have judged it, any may be named again.
TierLimiter::Loss TierLimiter::loss_of(const Slot& slot, std::int64_t now) const noexcept {
  const Definition& last = definitions_[slot.definition];
  // The usual bucket, in floods above all, is judged by the default and nothing else.
  if (slot.definition == default_judge_ && !is_special_ && slot.several_tiers == 0 && now >= slot.state.touched) {
    const BucketState state{accrued(last.limit, slot.state, now), now};
    const std::uint64_t wait = time_until(last.limit, state.balance, last.limit.full);
    return {wait, wait, missing(last.limit, state, now)};
  }
  const List<Judge>& judges = revisions_.back().judges;
  const std::uint64_t longest = longest_of(judge_of(last.tier));
  const std::size_t tiers = revisions_.back().count;
  const bool too_many =
      slot.several_tiers != 0 && (tiers > most_limits_compared || tiers * revisions_.size() > most_limits_replayed);
  const Judge own[] = {
      judge_of(last.tier),
      judge_of(directory_.own(client_of(slot)).value_or(no_tier)),
  };
  const std::int64_t seen = std::max(now, slot.state.touched);
  Loss loss;
  const std::size_t count = 3 + (slot.several_tiers != 0 && !too_many ? judges.size() : 0);
  for (std::size_t i = 0; i < count; ++i) {
    const Judge judge = i == 0 ? slot.definition : i < 3 ? own[i - 1] : judges[i - 3];
    const std::uint32_t definition = i == 0 || judge == 0 ? judge : definition_of_kind(judge, last.kind);
    if (definition == 0 || (i != 0 && definition == slot.definition)) continue;
    const Limit& limit = definitions_[definition].limit;
    const BucketState state = seen_under(definition, slot, seen);
    const std::uint64_t wait = tierlimit::time_to_full(limit, state, seen);
    loss.wait = std::max(loss.wait, wait);
    loss.weight = std::max(loss.weight, weight_of(limit, state, seen, wait, longest));
    loss.tokens = std::max(loss.tokens, missing(limit, state, seen));
  }
  // A client that could fill its bucket under a small limit, be forgotten, and start full under a large one, would do
  // so again and again: so it has to be full under all of them.
  if (now < slot.state.touched || too_many) loss.wait = never;
  return loss;
}

// The longest time in which a bucket of several limits that judge together fills; 0 where one judges alone.
std::uint64_t TierLimiter::longest_of(Judge judge) const noexcept {
  std::uint64_t longest = 0;
  for (std::uint32_t i = (judge & together) != 0 ? size_of(judge) : 0; i > 0; --i) {
    const std::uint64_t fill = definitions_[definition_in(judge, i - 1)].limit.fill;
    if (fill != never) longest = std::max(longest, fill);
  }
  return longest;
}

std::uint64_t TierLimiter::time_to_full(const Slot& slot, std::int64_t now) const noexcept {
  return loss_of(slot, now).wait;
}

// ---- A full table -------------------------------------------------------------------------------------------------

// A slot for a client that has none, where the table has no room. Null where it is to be denied without one.
Slot* TierLimiter::room_for_new(Judgement& judgement, const Fingerprint& client, std::int64_t now) noexcept {
  // The cost of a client never seen is above the capacity: its bucket stays full, so there is nothing to remember.
  if (judgement.status == Judgement::Status::denied) return nullptr;
  const Candidate candidate = place_for(client, client, *judgement.limit, judgement.state, 0, now);
  if (!turned_away(candidate)) {
    make_room(*candidate.slot, now);
    if (Slot* const slot = table_.insert(client)) return slot;
  }
  ++stats_.table_full;
  judgement.state = full_bucket(*judgement.limit, now);
  table_full(judgement, wait_for(candidate));
  return nullptr;
}

// What becomes of an admission that is only asked about: nothing is charged, but there has to be room.
void TierLimiter::foresee(Judgement& judgement, const Fingerprint& client, const Slot* slot, std::uint64_t cost,
                          std::int64_t now) const noexcept {
  judgement.state.balance += static_cast<std::int64_t>(cost) * judgement.limit->unit;  // The step charged it.
  if (slot == nullptr && !table_.has_room(client)) {
    const Candidate candidate = first_to_go(client, client, eviction_sample, now);
    if (turned_away(candidate)) table_full(judgement, wait_for(candidate));
  }
}

void TierLimiter::table_full(Judgement& judgement, std::uint64_t wait) const noexcept {
  judgement.status = Judgement::Status::denied;
  judgement.reason = Reason::table_full;
  judgement.wait = std::max(judgement.wait, wait);
}

// The time until the first to go is full, and so goes; `never` where that is not what it goes for.
std::uint64_t TierLimiter::wait_for(const Candidate& candidate) const noexcept {
  return goes_when_full() && options_.sweep && candidate.loss < never_full ? candidate.loss : never;
}

// Of a sample of buckets of others the one to forget first: where the least is lost, and of equals the one that was not
// touched for longest. The sample starts where the new bucket would be, so that the same client looks at the same ones
// when it comes back. Null where there are none. For a log those count alone that have one.
TierLimiter::Candidate TierLimiter::first_to_go(const Fingerprint& client, const Fingerprint& bucket,
                                                std::uint32_t sample, std::int64_t now, bool for_log) const noexcept {
  Candidate first;
  if (counted_on_count_ == counted_on_.size()) return first;
  const auto* const counted_on = counted_on_.data() + counted_on_count_;
  table_.near(bucket, sample, [&](Slot& slot) {
    if (client_of(slot) == client || std::find(counted_on_.data(), counted_on, slot.client) != counted_on) return false;
    if (for_log && log_of(slot) == nullptr) return true;
    const Loss loss = loss_of(slot, now);
    // Where nobody goes before he is full, who is first is first.
    std::uint64_t lost = goes_when_full() ? loss.wait : loss.weight;
    if (loss.wait == never) {
      const BucketState state = seen_under(slot.definition, slot, now);
      lost = loss_for_good(definitions_[slot.definition].limit, state, std::max(now, slot.state.touched));
    }
    if (first.slot == nullptr || lost < first.loss ||
        (lost == first.loss && slot.state.touched < first.slot->state.touched)) {
      first = {&slot, lost};
    }
    return true;
  });
  return first;
}

// Whether a new bucket has to be refused while the table has no room and `candidate` is the first to go.
bool TierLimiter::turned_away(const Candidate& candidate) const noexcept {
  if (candidate.slot == nullptr) return true;
  return goes_when_full() && !(options_.sweep && candidate.loss == 0);
}

// Whose place a bucket of the client gets that is in this state from now on.
TierLimiter::Candidate TierLimiter::place_for(const Fingerprint& client, const Fingerprint& bucket, const Limit& limit,
                                              const BucketState& state, std::uint64_t longest,
                                              std::int64_t now) const noexcept {
  const Candidate candidate = first_to_go(client, bucket, eviction_sample, now);
  const std::uint64_t wait = tierlimit::time_to_full(limit, state, now);
  const std::uint64_t own =
      wait != never ? weight_of(limit, state, now, wait, longest) : loss_for_good(limit, state, now);
  if (turned_away(candidate) || candidate.loss <= own) return candidate;
  return first_to_go(client, bucket, wide_eviction_sample, now);
}

// Forgets a bucket for others.
void TierLimiter::make_room(Slot& slot, std::int64_t now) noexcept {
  const Loss loss = loss_of(slot, now);
  if (options_.sweep && loss.wait == 0) {
    forget_full(slot, now);
  } else {
    ++stats_.evictions;
    stats_.evicted_tokens += loss.tokens;
    forget(slot);
  }
}

// That a bucket will go: then it cannot for others, and the memory of its log is there.
void TierLimiter::count_on(const Slot& slot) noexcept {
  counted_on_[counted_on_count_++] = slot.client;
  const WindowLog* const log = log_of(slot);
  count_on_bytes(log == nullptr ? 0 : 0 - WindowLog::bytes(log->capacity()));
}

// That logs will take so much more.
void TierLimiter::count_on_bytes(std::uint64_t bytes) noexcept {
  counted_on_bytes_ += bytes;
  count_log(nullptr, nullptr);
}

void TierLimiter::count_on_nobody() noexcept {
  counted_on_count_ = 0;
  count_on_bytes(0 - counted_on_bytes_);
}

// How many entries a log has when it is made or enlarged.
std::uint32_t TierLimiter::entries_of_larger(const WindowLog* log, const Limit& limit) noexcept {
  const std::uint32_t present = log == nullptr ? 0 : log->capacity();
  const auto most = static_cast<std::uint32_t>(limit.whole);
  return std::max(present + 1, std::min(most, present == 0 ? first_entries : present * 2));
}

bool TierLimiter::fits(std::uint64_t bytes) const noexcept {
  return table_.bytes() + log_bytes_ + counted_on_bytes_ + bytes <= options_.max_bytes;
}

// Finds who has to go for a longer log where one more charge finds no room in a member's. Where there is nobody the
// judgement tells how long it takes; `enough` is whether all before have found room, and `waits` whether this is about
// a time to come. Of more than can be counted on it is only known that there are as many.
bool TierLimiter::plan_log(Judgement& judgement, const Member& member, const Fingerprint& client, std::int64_t now,
                           bool enough, bool waits) noexcept {
  const Limit& limit = limit_of(member);
  const WindowLog* const log = sliding_window::log_of(member.state);
  if (log != nullptr && (!log->full(now) || sliding_window::live(limit, log, now).expired != 0)) return enough;
  const std::uint64_t wanted = WindowLog::bytes(entries_of_larger(log, limit));
  // Whoever is refused must not be work without end.
  for (std::uint32_t left = waits || !enough ? most_waited_for : wide_eviction_sample; !fits(wanted); --left) {
    if (left == 0 || counted_on_count_ == counted_on_.size()) {
      counts_on_more_ = true;
      return enough;
    }
    const Candidate candidate = first_to_go(client, member.bucket, wide_eviction_sample, now, true);
    bool goes = !turned_away(candidate);
    // Whoever has a log and needs a larger one gets it from those who have spent less, or not at all.
    if (goes && log != nullptr) {
      const std::uint64_t wait = tierlimit::time_to_full(limit, member.state, now);
      goes = candidate.loss <= weight_of(limit, member.state, now, wait, longest_of(members_judge_));
    }
    if (!goes) {
      // There will be when its own oldest charge counts no more.
      const std::uint64_t own_wait =
          log == nullptr ? never
                         : limit.fill - (static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(log->time(0)));
      // Or when others have gone.
      if (enough) left = std::min(left, most_waited_for);
      enough = false;
      const std::uint64_t wait = left > 1 ? wait_for(candidate) : never;
      turn_away(judgement, member, std::min(own_wait, wait));
      if (own_wait <= wait) return false;
    }
    count_on(*candidate.slot);
  }
  count_on_bytes(wanted - (log == nullptr ? 0 : WindowLog::bytes(log->capacity())));
  return enough;
}

// Room in a log for one more charge, as planned. False where the memory for a larger one cannot be had.
bool TierLimiter::make_log(const Limit& limit, BucketState& state, std::int64_t now) noexcept {
  WindowLog* const log = sliding_window::log_of(state);
  if (log != nullptr) log->drop(sliding_window::live(limit, log, now).expired);
  if (log != nullptr && !log->full(now)) return true;
  WindowLog* const larger = WindowLog::make(entries_of_larger(log, limit));
  if (larger == nullptr) return false;
  count_log(log, larger);
  if (log != nullptr) larger->take_over(log);
  state.balance = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(larger));
  return true;
}

}  // namespace tierlimit
