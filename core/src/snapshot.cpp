// SPDX-License-Identifier: MIT
// A limiter as bytes and back. Each function does both: an archive that is read fills what one that is written tells
// of.
#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "memory.hpp"
#include "tierlimit/limiter.hpp"

namespace tierlimit {
namespace {

using codec::Archive;
using codec::Fault;

// A time by its distance from now; what stands for none stays.
void transfer_time(Archive& archive, std::int64_t& time, std::int64_t now, std::int64_t none) {
  constexpr std::int64_t mark = std::numeric_limits<std::int64_t>::max();
  const auto moved = [](std::int64_t from, std::uint64_t by) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + by);
  };
  std::int64_t distance = time == none ? mark : moved(time, 0 - static_cast<std::uint64_t>(now));
  // More than any two readings are apart, and less than what comes round.
  constexpr std::int64_t most = std::int64_t{1} << 55;
  if (distance != mark) distance = std::clamp(distance, -most, most);
  archive.value(distance);
  archive.expect(distance == mark || (distance <= most && distance >= -most));
  if (archive.reads()) time = distance == mark ? none : moved(distance, static_cast<std::uint64_t>(now));
}

// Whether a limit is such that counting by it is safe.
bool sound(const Limit& limit) noexcept {
  if (!(limit.capacity >= 1 && limit.capacity <= std::numeric_limits<double>::max()) || limit.unit < 1 ||
      limit.gain < 0 || limit.whole < 1 || limit.on_raise > OnRaise::add || limit.accrual > Accrual::prorated) {
    return false;
  }
  if (limit.algorithm == Algorithm::token_bucket) {
    if (limit.full < limit.unit) return false;
    const std::uint64_t fill = limit.gain == 0 ? never : static_cast<std::uint64_t>((limit.full - 1) / limit.gain) + 1;
    return limit.whole == limit.full / limit.unit && limit.fill == fill;
  }
  const std::int64_t most =
      limit.algorithm == Algorithm::sliding_window ? Limit::most_logged : static_cast<std::int64_t>(max_cost);
  return limit.algorithm <= Algorithm::fixed_window && limit.unit == 1 && limit.gain == 0 && limit.whole <= most &&
         limit.full == std::numeric_limits<std::int64_t>::max() && limit.fill - 1 < Limit::longest_window;
}

}  // namespace

bool TierLimiter::write_snapshot(const codec::Stream& stream, std::int64_t now) {
  if (!ready()) return false;
  Archive counted(stream, Archive::Pass::count);
  transfer(counted, now);
  if (!counted.ok()) return false;
  const codec::Header header = counted.finish();
  stream.write(stream.context, &header, sizeof header);
  Archive written(stream, Archive::Pass::write);
  transfer(written, now);
  static_cast<void>(written.finish());
  return true;
}

Fault TierLimiter::read_snapshot(const codec::Stream& stream, std::int64_t now) {
  Archive archive(stream, Archive::Pass::read);
  transfer(archive, now);
  return archive.fault();
}

void TierLimiter::transfer(Archive& archive, std::int64_t now) {
  Secret secret = secret_.value_or(Secret{});
  std::uint32_t revision = revision_;
  archive.value(secret);
  archive.value(revision);
  Text room;
  const std::string_view document = archive.text(document_, room);
  if (archive.reads() && archive.ok()) {
    List<Error> errors;
    // What was accepted is; from now on it is as the options say.
    const bool strict = std::exchange(options_.strict, false);
    archive.expect(seed(secret) && load(document, std::nullopt, errors) && revision - 1 < last_revision);
    options_.strict = strict;
    revision_ = revision;
  }
  if (!archive.ok()) return;
  transfer_time(archive, swept_at_, now, -max_micros);

  List<std::uint32_t> numbers;
  transfer_definitions(archive, numbers);
  transfer_revisions(archive, numbers, now);
  transfer_table(archive, directory_.assigned_table(), numbers, now);
  transfer_table(archive, directory_.raises(), numbers, now);
  transfer_table(archive, table_, numbers, now);
  if (!archive.reads()) return;
  for (const std::uint32_t number : numbers) release(number);
  look_for_special();
}

// What is in slots.
void TierLimiter::transfer_table(Archive& archive, BucketTable& table, const List<std::uint32_t>& numbers,
                                 std::int64_t now) {
  std::uint32_t count = archive.count(table.size(), 13, 0);
  BucketTable::Walk walk;
  if (archive.reads()) table.expect(count);
  for (; archive.ok() && count > 0; --count) {
    Slot slot = archive.reads() ? Slot{} : *table.next(walk);
    archive.value(slot.client);
    if (&table == &table_) {
      transfer_bucket(archive, numbers, slot, now);
    } else if (&table == &directory_.raises()) {
      transfer_raise(archive, slot);
    } else {
      transfer_assignment(archive, slot);
    }
  }
}

// A tier by its name. When read, it is acquired.
void TierLimiter::transfer_tier(Archive& archive, TierId& tier) {
  std::uint8_t named = static_cast<std::uint8_t>(tier != no_tier);
  archive.value(named);
  Text room;
  const std::string_view name = archive.text(tier != no_tier ? directory_[tier].name.view() : std::string_view{}, room);
  if (archive.reads() && archive.ok() && named != 0) tier = acquire_tier(name);
}

// The limits that buckets refer to; `numbers` are those they have here, in order. When read, each is held.
void TierLimiter::transfer_definitions(Archive& archive, List<std::uint32_t>& numbers) {
  if (!archive.reads()) {
    for (std::uint32_t i = 1; i < definitions_.size(); ++i) {
      if (definitions_[i].users != 0) numbers.push_back(i);
    }
  }
  const std::uint32_t count =
      archive.count(numbers.size(), 60, sizeof(Definition) + sizeof(Kind) + sizeof(std::uint32_t));
  for (std::uint32_t i = 0; i < count && archive.ok(); ++i) {
    NamedLimit named;
    TierId tier = no_tier;
    std::uint8_t in_force = 0;
    if (!archive.reads()) {
      const Definition& definition = definitions_[numbers[i]];
      named = {kinds_[definition.kind].name, definition.limit};
      tier = definition.tier;
      in_force = static_cast<std::uint8_t>(definition_of_kind(judge_of(tier), definition.kind) == numbers[i]);
    }
    transfer_tier(archive, tier);
    archive.value(in_force);
    Text room;
    const std::string_view name = archive.text(named.name, room);
    archive.expect(name.size() <= LimitName::longest);
    named.name = name;
    // Six numbers of eight bytes, and three of one.
    archive.raw(&named.limit, offsetof(Limit, rounded));
    archive.expect(sound(named.limit));
    if (!archive.reads()) continue;
    // One that is of a document before is another one, even where both say the same.
    if (archive.ok()) numbers.push_back(define(tier, in_force != 0 ? judge_of(tier) : 0, named));
    if (tier != no_tier) directory_.release(tier);
  }
}

// Which of `numbers` a definition has; the highest bit goes along.
void TierLimiter::transfer_number(Archive& archive, const List<std::uint32_t>& numbers, std::uint32_t& definition) {
  const std::uint32_t* const found = std::lower_bound(numbers.begin(), numbers.end(), definition & ~together);
  std::uint32_t at = static_cast<std::uint32_t>(found - numbers.begin()) | (definition & together);
  archive.value(at);
  archive.expect((at & ~together) < numbers.size());
  if (archive.reads()) definition = archive.ok() ? numbers[at & ~together] | (at & together) : 0;
}

// Since when the documents were in force whose times may count, and by what those before the present one judged.
void TierLimiter::transfer_revisions(Archive& archive, const List<std::uint32_t>& numbers, std::int64_t now) {
  const std::uint32_t count = archive.count(revisions_.size(), 8, sizeof(Revision));
  archive.expect(count - 1 < most_revisions);
  if (archive.reads() && archive.ok()) {
    List<Revision> revisions(count - 1);
    revisions.push_back(std::move(revisions_.back()));
    revisions.swap(revisions_);
  }
  for (std::uint32_t i = 0; i < count && archive.ok(); ++i) {
    Revision& revision = revisions_[i];
    transfer_time(archive, revision.began, now, since_ever);
    archive.expect(i == 0 || revision.began >= revisions_[i - 1].began);
    if (i + 1 < count) transfer_judges(archive, numbers, revision);
  }
}

// What judged each tier that had limits. Which tier that is its limits tell.
void TierLimiter::transfer_judges(Archive& archive, const List<std::uint32_t>& numbers, Revision& revision) {
  revision.count = archive.count(revision.count, 8, 2 * sizeof(Rule));
  std::size_t place = 0;
  for (std::uint32_t left = revision.count; left > 0 && archive.ok(); --left) {
    Rule rule;
    Judge judge = 0;
    if (!archive.reads()) {
      while (revision.judges[place] == 0) ++place;
      judge = revision.judges[place++];
      rule.size = size_of(judge);
    }
    archive.value(rule.size);
    archive.expect(rule.size - 1 < Policy::most_limits);
    for (std::uint32_t i = 0; i < rule.size && archive.ok(); ++i) {
      if (!archive.reads()) rule.definitions[i] = definition_in(judge, i);
      transfer_number(archive, numbers, rule.definitions[i]);
      rule.definitions[i] &= ~together;
      if (archive.reads()) ++definitions_[rule.definitions[i]].users;
    }
    if (!archive.reads() || !archive.ok()) continue;
    place = place_of(definitions_[rule.definitions[0]].tier);
    archive.expect(memory_available(2 * place * sizeof(Judge)), Fault::does_not_fit);
    if (!archive.ok()) return;
    revision.judges.resize(place + 1);
    archive.expect(revision.judges[place] == 0);
    revision.judges[place] = make_judge(rule, 0);
  }
  // Who has no other is judged by the default.
  archive.expect(!revision.judges.empty() && revision.judges.front() != 0);
}

void TierLimiter::transfer_assignment(Archive& archive, const Slot& slot) {
  TierId tier = archive.reads() ? no_tier : Assignments::tier_of(slot);
  transfer_tier(archive, tier);
  if (!archive.reads()) return;
  archive.expect(tier != no_tier);
  if (archive.ok()) archive.expect(directory_.assign(slot.client, tier), Fault::does_not_fit);
}

void TierLimiter::transfer_raise(Archive& archive, const Slot& slot) {
  auto on_raise = static_cast<OnRaise>(slot.state.balance);
  archive.value(on_raise);
  archive.expect(on_raise <= OnRaise::add);
  if (!archive.reads() || !archive.ok()) return;
  archive.expect(directory_.set_raise(slot.client, on_raise), Fault::does_not_fit);
}

// One bucket. When read, it is put into the table.
void TierLimiter::transfer_bucket(Archive& archive, const List<std::uint32_t>& numbers, Slot& slot, std::int64_t now) {
  std::uint32_t definition = slot.definition | std::uint32_t{slot.several_tiers} << 31;
  transfer_number(archive, numbers, definition);
  if (archive.reads()) {
    if (!archive.ok()) return;
    slot.definition = definition & 0x7fff'ffff;
    slot.several_tiers = static_cast<unsigned char>(definition >> 31) & 1;
  }
  transfer_time(archive, slot.state.touched, now, since_ever);
  const Limit& limit = definitions_[slot.definition].limit;
  if (limit.algorithm == Algorithm::sliding_window) {
    transfer_log(archive, slot, now);
  } else {
    archive.value(slot.state.balance);
    const auto most = static_cast<std::int64_t>(max_cost);
    archive.expect(slot.state.balance >= 0 &&
                   slot.state.balance <= (limit.algorithm == Algorithm::fixed_window ? most : limit.full));
  }
  if (!archive.reads()) return;
  Slot* const made = archive.ok() && table_.seek(slot.client) == nullptr ? table_.insert(slot.client) : nullptr;
  archive.expect(made != nullptr, Fault::does_not_fit);
  if (made == nullptr) {
    forget_log(slot);
    return;
  }
  *made = slot;
  ++definitions_[slot.definition].users;
}

// The log of a bucket, in place of its balance.
void TierLimiter::transfer_log(Archive& archive, Slot& slot, std::int64_t now) {
  WindowLog* log = archive.reads() ? nullptr : sliding_window::log_of(slot.state);
  std::int64_t entries = log == nullptr ? 0 : log->size();
  archive.value(entries);
  archive.expect(entries >= 0 && entries <= Limit::most_logged);
  if (archive.reads() && archive.ok() && entries != 0) log = make_log(static_cast<std::uint32_t>(entries), archive);
  for (std::uint32_t i = 0; i < entries && log != nullptr && archive.ok(); ++i) {
    std::int64_t time = archive.reads() ? 0 : log->time(i);
    std::int64_t tokens = archive.reads() ? 0 : log->tokens(i);
    transfer_time(archive, time, now, since_ever);
    archive.value(tokens);
    if (!archive.reads()) continue;
    const auto span = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(i == 0 ? time : log->time(0));
    archive.expect((i == 0 || time >= log->time(log->size() - 1)) && span >> 49 == 0 && time <= slot.state.touched &&
                   tokens >= 1 && tokens <= Limit::most_logged - log->total());
    if (archive.ok()) log->add(time, tokens);
  }
  slot.state.balance = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(log));
}

// A log with room for so many entries.
WindowLog* TierLimiter::make_log(std::uint32_t entries, Archive& archive) noexcept {
  WindowLog* const log = fits(WindowLog::bytes(entries)) ? WindowLog::make(entries) : nullptr;
  archive.expect(log != nullptr, Fault::does_not_fit);
  if (log != nullptr) count_log(nullptr, log);
  return log;
}

}  // namespace tierlimit
