// SPDX-License-Identifier: MIT
#include "tierlimit/bucket_table.hpp"

#include <cstdlib>

namespace tierlimit {
namespace {

constexpr std::uint32_t first_slots = 16;

constexpr std::uint32_t usable(std::uint32_t slots) noexcept { return slots - slots / 8; }

}  // namespace

static_assert(sizeof(Slot) == 32);

BucketTable::BucketTable(std::uint32_t max_buckets, std::uint64_t max_bytes) noexcept
    : max_buckets_(max_buckets), max_bytes_(max_bytes) {}

BucketTable::~BucketTable() { std::free(slots_); }

Slot* BucketTable::find(const Fingerprint& client) noexcept {
  if (slots_ == nullptr) return nullptr;
  for (std::uint32_t index = client.a;; ++index) {
    Slot& slot = at(index);
    if (slot.definition == 0) return nullptr;
    if (slot.client == client) return &slot;
  }
}

Slot* BucketTable::insert(const Fingerprint& client) noexcept {
  if (size_ >= max_buckets_) return nullptr;
  if (size_ >= usable(slots()) && !grow()) return nullptr;
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

Slot* BucketTable::first_free(const Fingerprint& client) noexcept {
  std::uint32_t index = client.a;
  while (at(index).definition != 0) ++index;
  return &at(index);
}

bool BucketTable::grow() noexcept {
  const std::uint32_t old_count = slots();
  const std::uint32_t count = old_count == 0 ? first_slots : old_count * 2;
  if (count < old_count || std::uint64_t{count} * sizeof(Slot) > max_bytes_) return false;
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
