// SPDX-License-Identifier: MIT
#include "tierlimit/bucket_table.hpp"

#include <cstdlib>

namespace tierlimit {
namespace {

constexpr std::uint32_t first_slots = 16;

constexpr std::uint32_t usable(std::uint32_t slots) noexcept { return slots - slots / 8; }

// 0 where the number of slots has come to its end.
constexpr std::uint32_t next_slots(std::uint32_t slots) noexcept { return slots == 0 ? first_slots : slots * 2; }

}  // namespace

static_assert(sizeof(Slot) == 32);

BucketTable::BucketTable(std::uint32_t max_buckets, std::uint64_t max_bytes) noexcept
    : max_buckets_(max_buckets), max_bytes_(max_bytes) {}

BucketTable::~BucketTable() { std::free(slots_); }

Slot* BucketTable::find(const Fingerprint& client) const noexcept {
  if (slots_ == nullptr) return nullptr;
  for (std::uint32_t index = client.a;; ++index) {
    Slot& slot = at(index);
    if (slot.definition == 0) return nullptr;
    if (slot.client == client) return &slot;
  }
}

bool BucketTable::has_room() const noexcept {
  return size_ < max_buckets_ && (size_ < usable(slots()) || may_grow());
}

Slot* BucketTable::insert(const Fingerprint& client) noexcept {
  if (!has_room() || (size_ >= usable(slots()) && !grow())) return nullptr;
  ++size_;
  Slot* slot = first_free(client);
  slot->client = client;
  return slot;
}

void BucketTable::erase(Slot& slot) noexcept {
  // Close the gap, so that no search ends early: whatever a probe would have reached over the gap moves into it.
  auto gap = static_cast<std::uint32_t>(&slot - slots_);
  for (std::uint32_t index = gap + 1; at(index).definition != 0; ++index) {
    const std::uint32_t from_home = (index - at(index).client.a) & mask_;
    const std::uint32_t from_gap = (index - gap) & mask_;
    if (from_home >= from_gap) {
      at(gap) = at(index);
      gap = index;
    }
  }
  at(gap).definition = 0;
  --size_;
}

Slot* BucketTable::first_free(const Fingerprint& client) const noexcept {
  std::uint32_t index = client.a;
  while (at(index).definition != 0) ++index;
  return &at(index);
}

bool BucketTable::may_grow() const noexcept {
  const std::uint32_t count = next_slots(slots());
  return count != 0 && std::uint64_t{count} * sizeof(Slot) <= max_bytes_;
}

bool BucketTable::grow() noexcept {
  const std::uint32_t old_count = slots();
  const std::uint32_t count = next_slots(old_count);
  auto* const grown = static_cast<Slot*>(std::calloc(count, sizeof(Slot)));
  if (grown == nullptr) return false;
  Slot* const old = slots_;
  slots_ = grown;
  mask_ = count - 1;
  for (std::uint32_t i = 0; i < old_count; ++i) {
    if (old[i].definition != 0) *first_free(old[i].client) = old[i];
  }
  std::free(old);
  return true;
}

}  // namespace tierlimit
