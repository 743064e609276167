// SPDX-License-Identifier: MIT
/// \file
/// The buckets of all clients, found by fingerprint.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tierlimit/siphash.hpp"
#include "tierlimit/token_bucket.hpp"

namespace tierlimit {

/// 96 bits that stand for a client's name: SipHash-1-3 under the limiter's secret. Two names of a million share one with
/// a chance of about 6e-18.
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

/// One bucket: 32 bytes.
struct Slot {
  Fingerprint client;
  std::uint32_t definition = 0;  ///< The limit that last judged the bucket, by the limiter's number; 0: an empty slot.
  BucketState state;
};

/// A hash table of slots with open addressing (linear probing, at most seven eighths full), bounded in slots and bytes.
///
/// It knows nothing of limits and time: whoever asks for a slot that is not to be had decides which one to erase.
/// Pointers to slots hold until the next `insert` or `erase`.
class BucketTable {
 public:
  /// At most `max_buckets` slots in use, in at most `max_bytes` of memory.
  BucketTable(std::uint32_t max_buckets, std::uint64_t max_bytes) noexcept;
  ~BucketTable();
  BucketTable(const BucketTable&) = delete;
  BucketTable& operator=(const BucketTable&) = delete;

  /// The client's slot, or null.
  [[nodiscard]] Slot* find(const Fingerprint& client) const noexcept;
  /// Whether `insert` stays within both bounds.
  [[nodiscard]] bool has_room() const noexcept;
  /// A slot for a client that has none. Null where the table is at a bound or memory does not grow; nothing changed.
  /// The caller gives the slot a definition other than 0 at once.
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
  [[nodiscard]] bool may_grow() const noexcept;
  [[nodiscard]] bool grow() noexcept;
  [[nodiscard]] Slot* first_free(const Fingerprint& client) const noexcept;

  Slot* slots_ = nullptr;
  std::uint32_t mask_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t max_buckets_;
  std::uint64_t max_bytes_;
};

}  // namespace tierlimit
