// SPDX-License-Identifier: MIT
/// \file
/// What each tier name means now, and which client has which tier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tierlimit/bucket_table.hpp"
#include "tierlimit/decision.hpp"
#include "tierlimit/list.hpp"

namespace tierlimit {

/// A tier name by number. A number stands for its name as long as somebody uses it.
using TierId = std::uint32_t;

/// What judges the clients of one tier name.
struct TierEntry {
  using MovesAsBytes = void;

  Text name;
  std::uint32_t users = 0;  ///< The document, if it names the tier, assignments to it, and limits it had.
  /// The limiter's number of what judges: the default's on any fallback. Of a number that stands for no name: the next
  /// such number.
  std::uint32_t judge = 0;
  Fallback fallback = Fallback::unknown_tier;
};

/// More than the tables of assignments take for each at any time, growth included.
inline constexpr std::size_t bytes_per_assignment = 128;

/// More than the vectors of tier names take for each at any time, growth included.
inline constexpr std::size_t bytes_per_name = 4 * (sizeof(TierEntry) + sizeof(TierId));

/// What is noted down of a client before there is a secret.
struct TierNote {
  using MovesAsBytes = void;

  Text client;
  std::optional<TierId> tier;
};

/// Tier by client. Before there is a secret to make fingerprints with, names are only noted down.
class Assignments {
 public:
  /// Puts a client into a tier, or with nullopt into none. Returns the tier that is not used on its behalf any more.
  std::optional<TierId> set(std::string_view client, std::optional<TierId> tier);
  /// The same, once there is a secret.
  std::optional<TierId> set(const Fingerprint& client, std::optional<TierId> tier);
  [[nodiscard]] std::optional<TierId> find(const Fingerprint& client) const noexcept {
    const Slot* const place = placed_.seek(client);
    return place == nullptr ? std::nullopt : std::optional{tier_of(*place)};
  }
  [[nodiscard]] bool has(const Fingerprint& client) const noexcept { return placed_.seek(client) != nullptr; }
  [[nodiscard]] std::uint32_t size() const;
  /// More bytes than it takes to set so many more.
  [[nodiscard]] std::size_t room_to_add(std::size_t count) const noexcept {
    // All notes move when their vector grows. Of those that have their place only a segment is split, and the pointers
    // to segments double.
    constexpr std::size_t segments = std::size_t{3} * BucketTable::segment_slots * sizeof(Slot);
    return (notes_.size() + count) * bytes_per_assignment + placed_.size() / 2 + segments;
  }
  /// Those that have their place.
  [[nodiscard]] std::uint32_t placed() const noexcept { return placed_.size(); }
  /// No fewer than `size`, told at once.
  [[nodiscard]] std::size_t entries() const noexcept { return notes_.size() + placed_.size(); }
  void swap(Assignments& other) noexcept;

  /// Finds the place of every name noted down; `drop` is told each tier that a later note replaced.
  template <class Drop>
  void seed(const Secret& secret, Drop drop) {
    secret_ = secret;
    for (const TierNote& note : notes_) {
      if (const std::optional<TierId> unused = set(note.client, note.tier)) drop(*unused);
    }
    notes_ = {};
  }

  /// Those that have their place, in slots of buckets.
  [[nodiscard]] BucketTable& table() noexcept { return placed_; }
  [[nodiscard]] static TierId tier_of(const Slot& place) noexcept { return place.definition - 1; }

  /// Visits the slot of each client that has its place (`tier_of`).
  template <class Visit>
  void each_client(Visit visit) const {
    placed_.each(visit);
  }

  template <class Visit>
  void each_tier(Visit visit) const {
    for (const TierNote& note : notes_) {
      if (note.tier) visit(*note.tier);
    }
    placed_.each([&](const Slot& place) { visit(tier_of(place)); });
  }

 private:
  List<TierNote> notes_;
  // In a table as buckets are in, whose slots have the tier in place of the limit, and nothing else. (A table of slots
  // of half the size would take as much code once more: 0.5 kB gzipped.)
  BucketTable placed_;
  std::optional<Secret> secret_;
};

/// The tiers by name and number, the document's assignments and those made while running, which come first.
class TierDirectory {
 public:
  /// The number of a name that somebody uses.
  [[nodiscard]] std::optional<TierId> find(std::string_view name) const noexcept;
  [[nodiscard]] TierEntry& operator[](TierId tier) noexcept { return entries_[tier]; }
  [[nodiscard]] const TierEntry& operator[](TierId tier) const noexcept { return entries_[tier]; }
  /// Whether the number stands for a name.
  [[nodiscard]] bool has(TierId tier) const noexcept { return tier < entries_.size() && entries_[tier].users != 0; }

  /// Counts one more user of the name.
  TierId acquire(std::string_view name);
  /// Counts one user less; the number of a name that nobody uses may come to stand for another. Takes no memory.
  void release(TierId tier) noexcept;

  /// Puts a client into a tier that is acquired for it, or with nullopt back where the document has it.
  void assign(std::string_view client, std::optional<TierId> tier);
  /// Whether any client is assigned to a tier or waits for a raise, once there is a secret.
  [[nodiscard]] bool assigns() const noexcept { return assigned_.placed() + document_.placed() + raises_.size() != 0; }
  /// The tier that the client is assigned to.
  [[nodiscard, gnu::always_inline]] std::optional<TierId> assigned(const Fingerprint& client) const noexcept {
    const std::optional<TierId> tier = assigned_.find(client);
    return tier ? tier : document_.find(client);
  }
  /// The same as a call, for where it is not made with each decision.
  [[nodiscard]] std::optional<TierId> own(const Fingerprint& client) const noexcept;
  /// The tier that the document puts the client into.
  [[nodiscard]] std::optional<TierId> in_document(const Fingerprint& client) const noexcept {
    return document_.find(client);
  }
  /// Whether that is not what counts, because of an assignment made while running.
  [[nodiscard]] bool overridden(const Fingerprint& client) const noexcept { return assigned_.has(client); }

  /// What the client's next decision by its own tier does to balances whose capacity has grown; `keep`: nothing out of
  /// the ordinary.
  [[nodiscard]] OnRaise raise(const Fingerprint& client) const noexcept {
    const Slot* const slot = raises_.size() == 0 ? nullptr : raises_.seek(client);
    return slot == nullptr ? OnRaise::keep : static_cast<OnRaise>(slot->state.balance);
  }
  /// Notes that down; `keep` takes it back. False where there is no memory.
  bool set_raise(const Fingerprint& client, OnRaise on_raise) noexcept;

  /// The clients whose balances are raised.
  [[nodiscard]] BucketTable& raises() noexcept { return raises_; }
  /// What was said while running (`Assignments::tier_of`).
  [[nodiscard]] BucketTable& assigned_table() noexcept { return assigned_.table(); }
  /// Puts a client into a tier that is acquired for it, by what stands for the client. False where there is no memory.
  [[nodiscard]] bool assign(const Fingerprint& client, TierId tier) {
    const std::optional<TierId> unused = assigned_.set(client, tier);
    if (unused) release(*unused);
    return assigned_.has(client);
  }

  /// Assignments made while running.
  [[nodiscard]] std::uint32_t assignments() const { return assigned_.size(); }

  /// More bytes than it takes to add so many names and running assignments, their text aside. Nothing here asks for
  /// memory by itself: the caller has made sure of it.
  [[nodiscard]] std::size_t room_to_add(std::size_t names, std::size_t assignments) const noexcept {
    return (entries_.size() + names) * bytes_per_name + assigned_.room_to_add(assignments);
  }

  /// More bytes than it takes to make all running assignments once more.
  [[nodiscard]] std::size_t room_to_copy() const noexcept {
    return assigned_.entries() * bytes_per_assignment + entries_.size() * bytes_per_name;
  }

  /// More bytes than `seed` takes.
  [[nodiscard]] std::size_t room_to_seed() const noexcept {
    return (document_.entries() + assigned_.entries()) * bytes_per_assignment;
  }

  /// Takes the document's assignments in place of the last document's.
  void replace_document(Assignments& document);
  void seed(const Secret& secret);

  /// Visits the slot of each client that is in a tier, by the document or since.
  template <class Visit>
  void each_client(Visit visit) const {
    document_.each_client(visit);
    assigned_.each_client(visit);
  }

  template <class Visit>
  void each(Visit visit) {
    for (const TierId tier : by_name_) visit(entries_[tier]);
  }

 private:
  // Where the name is, or would be, in `by_name_`.
  [[nodiscard]] std::size_t place_of(std::string_view name) const noexcept;

  List<TierEntry> entries_;
  static constexpr TierId none = ~TierId{0};
  TierId unused_ = none;  // The first number that stands for no name.
  List<TierId> by_name_;  // sorted by name
  Assignments document_;
  Assignments assigned_;
  BucketTable raises_;  // Slots whose balance is an OnRaise.
};

}  // namespace tierlimit
