// SPDX-License-Identifier: MIT
/// \file
/// What is remembered of clients, found by fingerprint.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tierlimit/fingerprint.hpp"

namespace tierlimit {

/// A hash table of slots, bounded in slots and bytes, that grows by a segment at a time.
///
/// A slot is a plain struct with the `client` it is for and `used()`, which is false for all zeros. The table knows
/// nothing else of it: whoever asks for a slot that is not to be had decides which one to erase.
/// Pointers to slots hold until the next `insert` or `erase`.
///
/// Extendible hashing (Fagin, Nievergelt, Pippenger, Strong, 1979) over segments of open addressing: a directory tells
/// by the first bits of a client's place which segment holds it, and a segment that is full (thirteen sixteenths) is
/// split in two by the next bit. So the most that one insertion moves is a segment, and beside that the directory, a
/// pointer for each hundred clients or so.
template <class Slot>
class FingerprintTable {
 public:
  /// Slots of a segment. A table that needs fewer has one smaller segment, of 16 or a power of two above.
  static constexpr std::uint32_t segment_slots = 512;

  /// At most `max_used` slots in use, in at most `max_bytes` of memory.
  explicit FingerprintTable(std::uint32_t max_used = ~std::uint32_t{0},
                            std::uint64_t max_bytes = ~std::uint64_t{0}) noexcept;
  ~FingerprintTable();
  FingerprintTable(const FingerprintTable&) = delete;
  FingerprintTable& operator=(const FingerprintTable&) = delete;
  void swap(FingerprintTable& other) noexcept;

  /// The client's slot, or null.
  [[nodiscard]] Slot* find(const Fingerprint& client) const noexcept;
  /// The same as a call, for where it is not made with each decision: `find` is inline.
  [[nodiscard]] Slot* seek(const Fingerprint& client) const noexcept;
  /// Whether `insert` stays within both bounds.
  [[nodiscard]] bool has_room(const Fingerprint& client) const noexcept { return growth_for(client, 0) != no_room; }
  /// The bytes by which `insert` makes the table grow, with so many more in use; `no_room`: it is at a bound.
  [[nodiscard]] std::uint64_t growth_for(const Fingerprint& client, std::uint32_t more) const noexcept;
  static constexpr std::uint64_t no_room = ~std::uint64_t{0};
  /// A slot for a client that has none. Null where the table is at a bound or memory does not grow; nothing changed.
  /// The caller puts the slot to use at once. Where the table is full, erasing a slot of those that `near` visits first
  /// makes room.
  [[nodiscard]] Slot* insert(const Fingerprint& client) noexcept;
  /// Empties a slot. Others of its segment may move, also into its place.
  void erase(Slot& slot) noexcept;

  /// So many clients are about to come, in any order: without that, clients that share more bits than chance has it are
  /// taken for a flood.
  void expect(std::uint32_t clients) noexcept { expected_ = clients; }

  /// Another bound on its memory, from the next growth on.
  void set_max_bytes(std::uint64_t bytes) noexcept { max_bytes_ = bytes; }

  /// Slots in use.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// Memory held. (A pointer counts eight bytes everywhere, so that a bound means the same everywhere.)
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  /// Visits slots in use, until for `count` of them `visit` said true: from where the client's search begins through
  /// its segment and, where those are too few, on through the next ones, once round. The same client comes by the same
  /// slots.
  template <class Visit>
  void near(const Fingerprint& client, std::uint32_t count, Visit visit) const;
  /// Visits all slots in use.
  template <class Visit>
  void each(Visit visit) const;

  /// A position that goes round all slots.
  struct Hand {
    std::uint32_t place = 0;  // of the first client that its segment may hold, however often that was split
    std::uint32_t index = 0;
  };
  /// Not of an empty table that never held anything.
  [[nodiscard]] Slot& at(const Hand& hand) const noexcept { return directory_[hand.place >> shift_][hand.index]; }
  /// On to the next slot; true when that is the first one again.
  bool advance(Hand& hand) const noexcept;

  /// Once round all slots.
  struct Walk {
    Hand hand;
    bool over = false;
  };
  /// The next slot in use, or null.
  [[nodiscard]] Slot* next(Walk& walk) const noexcept;

 private:
  // Before the slots of a segment. As large as a line of the cache, so that no slot is in two of them.
  struct alignas(64) Header {
    std::uint32_t used;
    std::uint32_t depth;  // Bits of their place that all clients of the segment share.
  };
  static constexpr std::uint32_t place_bits = 31;
  static constexpr std::uint32_t places = std::uint32_t{1} << place_bits;
  static constexpr std::uint32_t first_slots = 16;
  static constexpr std::uint64_t pointer_bytes = 8;
  // Failing to get memory takes long: the next so many wishes are not passed on.
  static constexpr std::uint32_t wishes_denied = 1024;

  // Where a client is in the order of segments. Uneven on purpose, from two thirds to twice as many clients a place as
  // on average: places evenly filled would all be full at once, and all segments split within a few insertions; the
  // table would go from full to half empty and back. As it is, there are always some about to split and some just
  // split, and what a client takes stays the same, some 57 bytes. With `a` as a fraction u of its range the place is
  // u (1 + u) / 2.
  [[nodiscard]] static std::uint32_t place(const Fingerprint& client) noexcept {
    const std::uint64_t u = client.a >> 1;
    return static_cast<std::uint32_t>(u * ((std::uint64_t{1} << place_bits) + u) >> (place_bits + 1));
  }
  // Where the search for a client begins in its segment: at the first of two slots that share a line of the cache.
  [[nodiscard]] static std::uint32_t home(const Fingerprint& client) noexcept { return client.b << 1; }
  [[nodiscard]] static Header& header(Slot* segment) noexcept { return reinterpret_cast<Header*>(segment)[-1]; }
  [[nodiscard]] Slot* segment_of(const Fingerprint& client) const noexcept {
    return directory_[place(client) >> shift_];
  }
  [[nodiscard]] std::uint32_t depth() const noexcept { return place_bits - shift_; }
  [[nodiscard]] std::uint32_t slots() const noexcept { return mask_ + 1; }
  [[nodiscard]] std::uint32_t most_used() const noexcept { return slots() / 16 * 13; }
  [[nodiscard]] bool full(Slot* segment) const noexcept { return header(segment).used >= most_used(); }

  [[nodiscard]] static std::uint64_t segment_bytes(std::uint32_t count) noexcept {
    return sizeof(Header) + std::uint64_t{count} * sizeof(Slot);
  }
  [[nodiscard]] static Slot* make_segment(std::uint32_t count, std::uint32_t depth) noexcept;
  static void free_segment(Slot* segment) noexcept { std::free(&header(segment)); }
  void remove(Slot* segment, std::uint32_t gap) const noexcept;
  [[nodiscard]] Slot* first_free(Slot* segment, const Fingerprint& client) const noexcept;
  // The first place that is behind the segment of a place.
  [[nodiscard]] static std::uint32_t after(std::uint32_t place, Slot* segment) noexcept {
    const std::uint32_t own = places >> header(segment).depth;
    return (place & ~(own - 1)) + own;
  }

  [[nodiscard]] std::uint64_t growth(Slot* segment) const noexcept;
  [[nodiscard]] bool grow(Slot* segment, const Fingerprint& client) noexcept;
  [[nodiscard]] bool enlarge() noexcept;
  [[nodiscard]] bool split(Slot* segment, const Fingerprint& client) noexcept;
  [[nodiscard]] bool double_directory() noexcept;

  Slot** directory_ = nullptr;
  std::uint32_t shift_ = place_bits;  // How far a place is shifted to be an index into the directory.
  std::uint32_t mask_ = 0;            // One less than the slots of each segment.
  std::uint32_t size_ = 0;
  std::uint32_t expected_ = 0;
  std::uint32_t max_used_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;
  std::uint32_t patience_ = 0;  // Wishes for memory that are still not passed on.
};

template <class Slot>
FingerprintTable<Slot>::FingerprintTable(std::uint32_t max_used, std::uint64_t max_bytes) noexcept
    : max_used_(max_used), max_bytes_(max_bytes) {}

template <class Slot>
FingerprintTable<Slot>::~FingerprintTable() {
  if (directory_ == nullptr) return;
  for (std::uint32_t at = 0; at < places;) {
    Slot* const segment = directory_[at >> shift_];
    at = after(at, segment);
    free_segment(segment);
  }
  std::free(directory_);
}

template <class Slot>
void FingerprintTable<Slot>::swap(FingerprintTable& other) noexcept {
  // Byte by byte: all members are such that they can be, and there are many.
  alignas(FingerprintTable) char kept[sizeof(FingerprintTable)];
  void* const here = this;
  void* const there = &other;
  std::memcpy(kept, here, sizeof kept);
  std::memcpy(here, there, sizeof kept);
  std::memcpy(there, kept, sizeof kept);
}

template <class Slot>
[[gnu::always_inline]] inline Slot* FingerprintTable<Slot>::find(const Fingerprint& client) const noexcept {
  if (directory_ == nullptr) return nullptr;
  Slot* const segment = segment_of(client);
  for (std::uint32_t index = home(client);; index += 2) {
    Slot* const pair = segment + (index & mask_);
    // Which of the two is anybody's guess, that it is one of them nearly always true: so only that is a branch.
    Slot& slot = pair[static_cast<std::size_t>(!(pair[0].client == client))];
    if (slot.client == client && slot.used()) return &slot;
    if (!pair[0].used() || !pair[1].used()) return nullptr;
  }
}

template <class Slot>
Slot* FingerprintTable<Slot>::seek(const Fingerprint& client) const noexcept {
  return find(client);
}

template <class Slot>
[[gnu::always_inline]] inline Slot* FingerprintTable<Slot>::first_free(Slot* segment,
                                                                       const Fingerprint& client) const noexcept {
  std::uint32_t index = home(client);
  while (segment[index & mask_].used()) ++index;
  return &segment[index & mask_];
}

template <class Slot>
std::uint64_t FingerprintTable<Slot>::growth_for(const Fingerprint& client, std::uint32_t more) const noexcept {
  if (size_ + more >= max_used_) return no_room;
  Slot* const segment = directory_ == nullptr ? nullptr : segment_of(client);
  // That they come into the same segment is likely where there is one.
  const std::uint32_t used = segment == nullptr ? 0 : header(segment).used + (depth() == 0 ? more : 0);
  if (segment != nullptr && used < most_used()) return 0;
  return patience_ == 0 ? growth(segment) : no_room;
}

template <class Slot>
Slot* FingerprintTable<Slot>::insert(const Fingerprint& client) noexcept {
  if (size_ >= max_used_) return nullptr;
  Slot* segment = directory_ == nullptr ? nullptr : segment_of(client);
  // A segment that was split may have kept all its clients.
  while (segment == nullptr || full(segment)) {
    if (!grow(segment, client)) return nullptr;
    segment = segment_of(client);
  }
  ++size_;
  ++header(segment).used;
  Slot* const slot = first_free(segment, client);
  slot->client = client;
  return slot;
}

template <class Slot>
void FingerprintTable<Slot>::erase(Slot& slot) noexcept {
  Slot* const segment = segment_of(slot.client);
  remove(segment, static_cast<std::uint32_t>(&slot - segment));
  --header(segment).used;
  --size_;
}

// Empties a slot and closes the gap, so that no search ends early: whatever a search would have reached over the gap
// moves into it.
template <class Slot>
void FingerprintTable<Slot>::remove(Slot* segment, std::uint32_t gap) const noexcept {
  for (std::uint32_t index = gap + 1;; ++index) {
    const Slot& next = segment[index & mask_];
    if (!next.used()) break;
    const std::uint32_t from_home = (index - home(next.client)) & mask_;
    const std::uint32_t from_gap = (index - gap) & mask_;
    if (from_home >= from_gap) {
      segment[gap & mask_] = next;
      gap = index;
    }
  }
  segment[gap & mask_] = Slot{};
}

template <class Slot>
template <class Visit>
void FingerprintTable<Slot>::near(const Fingerprint& client, std::uint32_t count, Visit visit) const {
  std::uint32_t left = size_;
  for (std::uint32_t at = place(client); count > 0 && left > 0;) {
    Slot* const segment = directory_[at >> shift_];
    for (std::uint32_t i = 0; i < slots() && count > 0; ++i) {
      Slot& slot = segment[(home(client) + i) & mask_];
      if (!slot.used()) continue;
      count -= static_cast<std::uint32_t>(visit(slot));
      --left;
    }
    at = after(at, segment) % places;
  }
}

template <class Slot>
[[gnu::always_inline]] inline bool FingerprintTable<Slot>::advance(Hand& hand) const noexcept {
  hand.index = (hand.index + 1) & mask_;
  if (hand.index != 0) return false;
  hand.place = after(hand.place, directory_[hand.place >> shift_]) % places;
  return hand.place == 0;
}

template <class Slot>
template <class Visit>
void FingerprintTable<Slot>::each(Visit visit) const {
  Walk walk;
  while (Slot* const slot = next(walk)) visit(*slot);
}

template <class Slot>
Slot* FingerprintTable<Slot>::next(Walk& walk) const noexcept {
  while (directory_ != nullptr && !walk.over) {
    Slot& slot = at(walk.hand);
    walk.over = advance(walk.hand);
    if (slot.used()) return &slot;
  }
  return nullptr;
}

template <class Slot>
Slot* FingerprintTable<Slot>::make_segment(std::uint32_t count, std::uint32_t depth) noexcept {
  const auto bytes = static_cast<std::size_t>(segment_bytes(count));
  void* const block = std::aligned_alloc(alignof(Header), bytes);
  if (block == nullptr) return nullptr;
  std::memset(block, 0, bytes);
  auto* const made = static_cast<Header*>(block);
  made->depth = depth;
  return reinterpret_cast<Slot*>(made + 1);
}

// ---- Growing -------------------------------------------------------------------------------------------------------

// What `grow` adds, if that is within the bound.
template <class Slot>
std::uint64_t FingerprintTable<Slot>::growth(Slot* segment) const noexcept {
  std::uint64_t added;
  if (segment == nullptr) {
    added = segment_bytes(first_slots) + pointer_bytes;
  } else if (slots() < segment_slots) {
    added = std::uint64_t{slots()} * sizeof(Slot);
  } else {
    // Clients that share more bits than there are clients will share the next ones too.
    if ((size_ > expected_ ? size_ : expected_) >> header(segment).depth == 0) return no_room;
    const std::uint64_t pointers = header(segment).depth == depth() ? std::uint64_t{1} << depth() : 0;
    added = segment_bytes(segment_slots) + pointers * pointer_bytes;
  }
  return bytes_ + added <= max_bytes_ ? added : no_room;
}

template <class Slot>
bool FingerprintTable<Slot>::grow(Slot* segment, const Fingerprint& client) noexcept {
  if (growth(segment) == no_room) return false;
  if (patience_ > 0) {
    --patience_;
    return false;
  }
  if (segment == nullptr || slots() < segment_slots ? enlarge() : split(segment, client)) return true;
  patience_ = wishes_denied;
  return false;
}

// The only segment twice as large.
template <class Slot>
bool FingerprintTable<Slot>::enlarge() noexcept {
  const std::uint32_t count = directory_ == nullptr ? first_slots : slots() * 2;
  Slot* const enlarged = make_segment(count, 0);
  if (enlarged == nullptr) return false;
  if (directory_ == nullptr) {
    directory_ = static_cast<Slot**>(std::malloc(sizeof(Slot*)));
    if (directory_ == nullptr) {
      free_segment(enlarged);
      return false;
    }
    directory_[0] = enlarged;
    mask_ = count - 1;
    bytes_ = segment_bytes(count) + pointer_bytes;
    return true;
  }
  Slot* const old = directory_[0];
  const std::uint32_t old_count = slots();
  header(enlarged).used = size_;
  mask_ = count - 1;
  for (std::uint32_t i = 0; i < old_count; ++i) {
    if (old[i].used()) *first_free(enlarged, old[i].client) = old[i];
  }
  directory_[0] = enlarged;
  bytes_ += segment_bytes(count) - segment_bytes(old_count);
  free_segment(old);
  return true;
}

// The segment's clients into two segments, by the next bit of their place.
template <class Slot>
bool FingerprintTable<Slot>::split(Slot* segment, const Fingerprint& client) noexcept {
  const std::uint32_t shared = header(segment).depth;
  if (shared == depth() && !double_directory()) return false;
  Slot* const sibling = make_segment(segment_slots, shared + 1);
  if (sibling == nullptr) return false;
  header(segment).depth = shared + 1;
  bytes_ += segment_bytes(segment_slots);

  const std::uint32_t pointers = std::uint32_t{1} << (depth() - shared);
  const std::uint32_t first = place(client) >> (place_bits - shared) << (depth() - shared);
  for (std::uint32_t i = pointers / 2; i < pointers; ++i) directory_[first + i] = sibling;

  const std::uint32_t next_bit = std::uint32_t{1} << (place_bits - 1 - shared);
  for (std::uint32_t i = 0; i < segment_slots;) {
    Slot& slot = segment[i];
    if (!slot.used() || (place(slot.client) & next_bit) == 0) {
      ++i;
      continue;
    }
    *first_free(sibling, slot.client) = slot;
    ++header(sibling).used;
    --header(segment).used;
    remove(segment, i);
  }
  return true;
}

template <class Slot>
bool FingerprintTable<Slot>::double_directory() noexcept {
  const std::size_t count = std::size_t{1} << depth();
  auto* const doubled = static_cast<Slot**>(std::malloc(2 * count * sizeof(Slot*)));
  if (doubled == nullptr) return false;
  for (std::size_t i = 0; i < 2 * count; ++i) doubled[i] = directory_[i / 2];
  std::free(directory_);
  directory_ = doubled;
  --shift_;
  bytes_ += count * pointer_bytes;
  return true;
}

}  // namespace tierlimit
