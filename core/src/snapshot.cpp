// SPDX-License-Identifier: MIT
// A limiter as bytes and back. Each function does both: an archive that is read fills what one that is written tells
// of.
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
  archive.value(distance);
  if (archive.reads()) time = distance == mark ? none : moved(distance, static_cast<std::uint64_t>(now));
}

void transfer_flag(Archive& archive, bool& flag) {
  std::uint8_t byte = flag ? 1 : 0;
  archive.value(byte);
  flag = byte != 0;
}

// A tier's number, of those that were written.
void transfer_tier(Archive& archive, const std::vector<TierId>& tiers, TierId& tier, TierId none) {
  archive.value(tier);
  if (!archive.reads() || tier == none) return;
  archive.expect(tier < tiers.size() && tiers[tier] != none);
  tier = archive.ok() ? tiers[tier] : none;
}

// Whether a limit is such that counting by it is safe.
bool sound(const Limit& limit) noexcept {
  if (!(limit.capacity >= 1 && limit.capacity <= std::numeric_limits<double>::max()) || limit.unit < 1 ||
      limit.gain < 0 || limit.whole < 1 || limit.on_raise > OnRaise::add || limit.accrual > Accrual::prorated) {
    return false;
  }
  if (limit.algorithm == Algorithm::token_bucket) {
    const std::uint64_t fill = limit.gain == 0 ? never : static_cast<std::uint64_t>((limit.full - 1) / limit.gain) + 1;
    return limit.full >= limit.unit && limit.whole == limit.full / limit.unit && limit.fill == fill;
  }
  const std::int64_t most =
      limit.algorithm == Algorithm::sliding_window ? Limit::most_logged : static_cast<std::int64_t>(max_cost);
  return limit.algorithm <= Algorithm::fixed_window && limit.unit == 1 && limit.gain == 0 && limit.whole <= most &&
         limit.full == std::numeric_limits<std::int64_t>::max() && limit.fill - 1 < Limit::longest_window;
}

void transfer_errors(Archive& archive, std::vector<Error>& errors) {
  const std::uint32_t count = archive.count(errors.size(), 17, sizeof(Error));
  if (archive.reads()) errors = std::vector<Error>(count);
  for (Error& error : errors) {
    archive.value(error.code);
    archive.expect(error.code <= ErrorCode::invalid_snapshot);
    archive.text(error.message);
    archive.text(error.path);
    archive.value(error.line);
    archive.value(error.column);
  }
}

}  // namespace

Result<bool> TierLimiter::snapshot(const codec::Stream& stream, std::int64_t now) {
  Error error;
  error.code = !secret_ ? ErrorCode::not_seeded : ErrorCode::no_policies;
  if (!ready()) return error;
  Archive counted(stream, Archive::Pass::count);
  transfer(counted, now);
  const codec::Header header = counted.finish();
  stream.write(stream.context, &header, sizeof header);
  Archive written(stream, Archive::Pass::write);
  transfer(written, now);
  static_cast<void>(written.finish());
  return true;
}

Result<bool> TierLimiter::restore(const codec::Stream& stream, std::int64_t now) {
  Archive archive(stream, Archive::Pass::read);
  if (archive.ok()) transfer(archive, now);
  Error error;
  error.code = ErrorCode::invalid_snapshot;
  switch (archive.fault()) {
    case Fault::none: return true;
    case Fault::foreign: error.message = "these bytes are no snapshot"; break;
    case Fault::other_endian: error.message = "the snapshot has the other order of bytes"; break;
    case Fault::other_format: error.message = "the snapshot is of a format that this version does not read"; break;
    case Fault::truncated: error.message = "the snapshot has not as many bytes as were written"; break;
    case Fault::altered: error.message = "the snapshot is not as it was written"; break;
    case Fault::does_not_fit:
      error.code = ErrorCode::out_of_memory;
      error.message = "the snapshot holds more than there is room for";
      break;
  }
  return error;
}

void TierLimiter::transfer(Archive& archive, std::int64_t now) {
  Secret secret = secret_.value_or(Secret{});
  archive.value(secret);
  archive.value(revision_);
  archive.expect(revision_ != 0);
  transfer_time(archive, swept_at_, now, -max_micros);
  if (archive.reads()) static_cast<void>(seed(secret));

  std::vector<TierId> tiers;
  transfer_tiers(archive, tiers);
  transfer_definitions(archive, tiers);
  transfer_revisions(archive, tiers, now);
  if (archive.ok()) transfer_clients(archive, tiers);
  transfer_errors(archive, rejected_);
  transfer_errors(archive, warnings_);

  std::uint32_t buckets = archive.count(table_.size(), 32, 0);
  if (!archive.reads()) {
    table_.each([&](Slot& slot) {
      Slot copy = slot;
      transfer_bucket(archive, copy, now);
    });
  }
  for (; archive.reads() && archive.ok() && buckets > 0; --buckets) {
    Slot slot;
    transfer_bucket(archive, slot, now);
  }
  if (!archive.reads()) return;
  // All were held as long as it was not known who needs them.
  for (std::uint32_t i = 1; i < definitions_.size(); ++i) {
    if (definitions_[i].users != 0) release(i);
  }
  for (const TierId tier : tiers) {
    if (tier != no_tier) directory_.release(tier);
  }
}

// The names of tiers. When read, each is held.
void TierLimiter::transfer_tiers(Archive& archive, std::vector<TierId>& tiers) {
  std::uint32_t count = archive.count(directory_.size(), 5, bytes_per_name);
  for (TierId tier = 0; tier < count; ++tier) {
    bool used = directory_.has(tier);
    transfer_flag(archive, used);
    std::string name;
    if (!archive.reads()) name = directory_[tier].name;
    archive.text(name);
    if (archive.reads()) tiers.push_back(used && archive.ok() ? directory_.acquire(name) : no_tier);
  }
  count = archive.count(document_tiers_.size(), 4, sizeof(TierId));
  if (archive.reads()) document_tiers_ = std::vector<TierId>(count);
  for (TierId& tier : document_tiers_) {
    transfer_tier(archive, tiers, tier, no_tier);
    archive.expect(tier != no_tier);
    if (archive.reads() && archive.ok()) ++directory_[tier].users;
  }
}

// The limits that buckets refer to, by the same numbers. When read, each is held.
void TierLimiter::transfer_definitions(Archive& archive, const std::vector<TierId>& tiers) {
  const std::uint32_t count = archive.count(definitions_.size(), 1, sizeof(Definition) + sizeof(Kind));
  for (std::uint32_t i = 1; i < count; ++i) {
    Definition definition;
    std::string name;
    if (!archive.reads()) {
      definition = definitions_[i];
      name = kinds_[definition.kind].name;
    }
    bool used = definition.users != 0;
    transfer_flag(archive, used);
    if (archive.reads()) definitions_.emplace_back();
    if (used) {
      Limit& limit = definition.limit;
      transfer_tier(archive, tiers, definition.tier, no_tier);
      archive.text(name);
      // Six numbers of eight bytes.
      archive.raw(&limit, offsetof(Limit, algorithm));
      archive.value(limit.algorithm);
      archive.value(limit.on_raise);
      archive.value(limit.accrual);
      archive.expect(sound(limit));
    }
    if (!archive.reads()) continue;
    if (used && archive.ok()) {
      definition.kind = acquire_kind(name, definition.limit.algorithm);
      definition.users = 1;
      if (definition.tier != no_tier) ++directory_[definition.tier].users;
    } else {
      definition = {};
      definition.tier = std::exchange(unused_definition_, i);
    }
    definitions_[i] = definition;
  }
}

// What is in force and was before. Refers to what has users.
void TierLimiter::transfer_revisions(Archive& archive, const std::vector<TierId>& tiers, std::int64_t now) {
  const std::uint32_t count = archive.count(revisions_.size(), 13, sizeof(Revision));
  archive.expect(count - 1 < most_revisions);
  if (archive.reads() && archive.ok()) revisions_ = std::vector<Revision>(count);
  for (Revision& revision : revisions_) {
    transfer_time(archive, revision.began, now, since_ever);
    transfer_flag(archive, revision.prorated);
    const std::uint32_t size = archive.count(revision.tiers.size(), 9, sizeof(TierId) + sizeof(Judge) + sizeof(Rule));
    archive.expect(size != 0);
    for (std::uint32_t i = 0; i < size && archive.ok(); ++i) {
      TierId tier = no_tier;
      Rule rule;
      if (!archive.reads()) {
        tier = revision.tiers[i];
        rule.size = size_of(revision.judges[i]);
        for (std::uint32_t k = 0; k < rule.size; ++k) rule.definitions[k] = definition_in(revision.judges[i], k);
      }
      transfer_tier(archive, tiers, tier, no_tier);
      archive.value(rule.size);
      archive.expect(rule.size - 1 < Policy::most_limits && (tier == no_tier) == (i == 0));
      for (std::uint32_t k = 0; k < rule.size && archive.ok(); ++k) {
        archive.value(rule.definitions[k]);
        archive.expect(rule.definitions[k] - 1 < definitions_.size() - 1 &&
                       definitions_[rule.definitions[k]].users != 0);
      }
      if (!archive.reads() || !archive.ok()) continue;
      for (std::uint32_t k = 0; k < rule.size; ++k) ++definitions_[rule.definitions[k]].users;
      revision.tiers.push_back(tier);
      revision.judges.push_back(make_judge(rule, 0));
    }
  }
  if (archive.reads() && archive.ok()) enter();
}

// Which client has which tier, and who waits for a raise.
void TierLimiter::transfer_clients(Archive& archive, const std::vector<TierId>& tiers) {
  for (Assignments* assignments : {&directory_.document(), &directory_.running()}) {
    std::uint32_t count = archive.count(assignments->placed(), 16, bytes_per_assignment / 2);
    if (!archive.reads()) {
      assignments->each([&](Fingerprint client, TierId tier) {
        archive.value(client);
        archive.value(tier);
      });
    }
    for (; archive.reads() && archive.ok() && count > 0; --count) {
      Fingerprint client;
      TierId tier = no_tier;
      archive.value(client);
      transfer_tier(archive, tiers, tier, no_tier);
      archive.expect(tier != no_tier);
      if (!archive.ok()) break;
      ++directory_[tier].users;
      const std::optional<TierId> unused = assignments->set(client, tier);
      if (unused) directory_.release(*unused);
    }
  }
  std::uint32_t count = archive.count(directory_.raises().size(), 13, bytes_per_assignment / 2);
  const auto transfer_raise = [&](Fingerprint client, OnRaise on_raise) {
    archive.value(client);
    archive.value(on_raise);
    archive.expect(on_raise <= OnRaise::add);
    if (archive.reads() && archive.ok()) directory_.set_raise(client, on_raise);
  };
  if (!archive.reads()) {
    directory_.raises().each(
        [&](const Slot& slot) { transfer_raise(slot.client, static_cast<OnRaise>(slot.state.balance)); });
  }
  for (; archive.reads() && archive.ok() && count > 0; --count) transfer_raise({}, OnRaise::keep);
}

// One bucket. When read, it is put into the table.
void TierLimiter::transfer_bucket(Archive& archive, Slot& slot, std::int64_t now) {
  std::uint32_t definition = slot.definition | std::uint32_t{slot.several_tiers} << 31;
  archive.value(slot.client);
  archive.value(definition);
  transfer_time(archive, slot.state.touched, now, since_ever);
  const std::uint32_t number = definition & 0x7fff'ffff;
  archive.expect(number - 1 < definitions_.size() - 1 && definitions_[number].users != 0);
  if (!archive.ok()) return;
  const Limit& limit = definitions_[number].limit;
  WindowLog* log = nullptr;
  if (limit.algorithm == Algorithm::sliding_window) {
    log = sliding_window::log_of(slot.state);
    std::int64_t entries = log == nullptr ? 0 : log->size();
    archive.value(entries);
    archive.expect(entries >= 0 && entries <= Limit::most_logged);
    if (archive.reads() && archive.ok() && entries != 0) log = make_log(static_cast<std::uint32_t>(entries), archive);
    std::int64_t oldest = 0;
    std::int64_t last = 0;
    for (std::uint32_t i = 0; i < entries && archive.ok(); ++i) {
      std::int64_t time = archive.reads() ? 0 : log->time(i);
      std::int64_t tokens = archive.reads() ? 0 : log->tokens(i);
      transfer_time(archive, time, now, since_ever);
      archive.value(tokens);
      if (!archive.reads()) continue;
      if (i == 0) oldest = last = time;
      const auto span = static_cast<std::uint64_t>(time) - static_cast<std::uint64_t>(oldest);
      archive.expect(time >= last && span >> 49 == 0 && time <= slot.state.touched && tokens >= 0 &&
                     log->total() + tokens <= Limit::most_logged);
      if (archive.ok()) log->add(last = time, tokens);
    }
    slot.state.balance = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(log));
  } else {
    archive.value(slot.state.balance);
    const std::int64_t most =
        limit.algorithm == Algorithm::token_bucket ? limit.full : static_cast<std::int64_t>(max_cost);
    archive.expect(slot.state.balance >= 0 && slot.state.balance <= most);
  }
  if (!archive.reads()) return;
  Slot* const made = archive.ok() && table_.seek(slot.client) == nullptr ? table_.insert(slot.client) : nullptr;
  archive.expect(made != nullptr, Fault::does_not_fit);
  if (made == nullptr) {
    if (log != nullptr) count_log(log, nullptr);
    WindowLog::free(log);
    return;
  }
  made->definition = number & 0x7fff'ffff;
  made->several_tiers = static_cast<unsigned char>(definition >> 31) & 1;
  made->state = slot.state;
  ++definitions_[number].users;
}

// A log with room for so many entries.
WindowLog* TierLimiter::make_log(std::uint32_t entries, Archive& archive) noexcept {
  const bool fits = table_.bytes() + log_bytes_ + WindowLog::bytes(entries) <= options_.max_bytes;
  WindowLog* const log = fits ? WindowLog::make(entries) : nullptr;
  archive.expect(log != nullptr, Fault::does_not_fit);
  if (log != nullptr) count_log(nullptr, log);
  return log;
}

}  // namespace tierlimit
