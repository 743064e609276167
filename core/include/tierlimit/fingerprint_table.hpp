// SPDX-License-Identifier: MIT
/// \file
/// What is remembered of clients, found by fingerprint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tierlimit/siphash.hpp"

namespace tierlimit {

/// 96 bits that stand for a client's name: SipHash-1-3 under the limiter's secret. Two names of a million share one
/// with a chance of about 6e-18.
struct Fingerprint {
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t c = 0;

  [[nodiscard]] static Fingerprint of(const Secret& secret, std::string_view client) noexcept {
    const auto hash = siphash128<1, 3>(secret, client);
    return {static_cast<std::uint32_t>(hash[0]), static_cast<std::uint32_t>(hash[0] >> 32),
            static_cast<std::uint32_t>(hash[1])};
  }
  friend bool operator==(const Fingerprint& x, const Fingerprint& y) noexcept {
    return x.a == y.a && x.b == y.b && x.c == y.c;
  }
};

/// A hash table of slots with open addressing (linear probing, at most seven eighths full), bounded in slots and bytes.
///
/// A slot is a plain struct with the `client` it is for and `used()`, which is false for all zeros. The table knows
/// nothing else of it: whoever asks for a slot that is not to be had decides which one to erase.
/// Pointers to slots hold until the next `insert` or `erase`.
template <class Slot>
class FingerprintTable {
 public:
  /// At most `max_used` slots in use, in at most `max_bytes` of memory.
  explicit FingerprintTable(std::uint32_t max_used = ~std::uint32_t{0},
                            std::uint64_t max_bytes = ~std::uint64_t{0}) noexcept
      : max_used_(max_used), max_bytes_(max_bytes) {}
  ~FingerprintTable() { std::free(slots_); }
  FingerprintTable(const FingerprintTable&) = delete;
  FingerprintTable& operator=(const FingerprintTable&) = delete;
  void swap(FingerprintTable& other) noexcept;

  /// The client's slot, or null.
  [[nodiscard]] Slot* find(const Fingerprint& client) const noexcept;
  /// Whether `insert` stays within both bounds.
  [[nodiscard]] bool has_room() const noexcept { return size_ < max_used_ && (size_ < usable(slots()) || may_grow()); }
  /// A slot for a client that has none. Null where the table is at a bound or memory does not grow; nothing changed.
  /// The caller puts the slot to use at once.
  [[nodiscard]] Slot* insert(const Fingerprint& client) noexcept;
  /// Empties a slot. Others may move, also into its place.
  void erase(Slot& slot) noexcept;

  /// Slots in use.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// Slots there are, a power of two or 0; `at` takes any number and wraps around.
  [[nodiscard]] std::uint32_t slots() const noexcept { return slots_ == nullptr ? 0 : mask_ + 1; }
  [[nodiscard]] Slot& at(std::uint32_t index) const noexcept { return slots_[index & mask_]; }
  /// Memory held.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{slots()} * sizeof(Slot); }

 private:
  static constexpr std::uint32_t first_slots = 16;

  [[nodiscard]] static constexpr std::uint32_t usable(std::uint32_t slots) noexcept { return slots - slots / 8; }
  // 0 where the number of slots has come to its end.
  [[nodiscard]] std::uint32_t next_slots() const noexcept { return slots_ == nullptr ? first_slots : slots() * 2; }
  [[nodiscard]] bool may_grow() const noexcept {
    const std::uint32_t count = next_slots();
    return count != 0 && std::uint64_t{count} * sizeof(Slot) <= max_bytes_;
  }
  [[nodiscard]] bool grow() noexcept;
  [[nodiscard]] Slot* first_free(const Fingerprint& client) const noexcept;

  Slot* slots_ = nullptr;
  std::uint32_t mask_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t max_used_;
  std::uint64_t max_bytes_;
};

template <class Slot>
void FingerprintTable<Slot>::swap(FingerprintTable& other) noexcept {
  const auto exchange = [](auto& x, auto& y) {
    const auto kept = x;
    x = y;
    y = kept;
  };
  exchange(slots_, other.slots_);
  exchange(mask_, other.mask_);
  exchange(size_, other.size_);
  exchange(max_used_, other.max_used_);
  exchange(max_bytes_, other.max_bytes_);
}

template <class Slot>
Slot* FingerprintTable<Slot>::find(const Fingerprint& client) const noexcept {
  if (slots_ == nullptr) return nullptr;
  for (std::uint32_t index = client.a;; ++index) {
    Slot& slot = at(index);
    if (!slot.used()) return nullptr;
    if (slot.client == client) return &slot;
  }
}

template <class Slot>
Slot* FingerprintTable<Slot>::insert(const Fingerprint& client) noexcept {
  if (!has_room() || (size_ >= usable(slots()) && !grow())) return nullptr;
  ++size_;
  Slot* const slot = first_free(client);
  slot->client = client;
  return slot;
}

template <class Slot>
void FingerprintTable<Slot>::erase(Slot& slot) noexcept {
  // Close the gap, so that no search ends early: whatever a probe would have reached over the gap moves into it.
  auto gap = static_cast<std::uint32_t>(&slot - slots_);
  for (std::uint32_t index = gap + 1; at(index).used(); ++index) {
    const std::uint32_t from_home = (index - at(index).client.a) & mask_;
    const std::uint32_t from_gap = (index - gap) & mask_;
    if (from_home >= from_gap) {
      at(gap) = at(index);
      gap = index;
    }
  }
  at(gap) = Slot{};
  --size_;
}

template <class Slot>
Slot* FingerprintTable<Slot>::first_free(const Fingerprint& client) const noexcept {
  std::uint32_t index = client.a;
  while (at(index).used()) ++index;
  return &at(index);
}

template <class Slot>
bool FingerprintTable<Slot>::grow() noexcept {
  const std::uint32_t old_count = slots();
  if (!may_grow()) return false;
  const std::uint32_t count = next_slots();
  auto* const grown = static_cast<Slot*>(std::calloc(count, sizeof(Slot)));
  if (grown == nullptr) return false;
  Slot* const old = slots_;
  slots_ = grown;
  mask_ = count - 1;
  for (std::uint32_t i = 0; i < old_count; ++i) {
    if (old[i].used()) *first_free(old[i].client) = old[i];
  }
  std::free(old);
  return true;
}

}  // namespace tierlimit
