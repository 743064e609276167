// SPDX-License-Identifier: MIT
/// \file
/// What each tier name means now, and which client has which tier.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tierlimit/bucket_table.hpp"
#include "tierlimit/decision.hpp"

namespace tierlimit {

/// A tier name by number. A number stands for its name as long as somebody uses it: the document or an assignment.
using TierId = std::uint32_t;

/// What judges the clients of one tier name.
struct TierEntry {
  std::string name;
  std::uint32_t users = 0;       ///< The document, if it names the tier, and every client assigned to it.
  std::uint32_t definition = 0;  ///< The limiter's number of the limit that judges: the default's on any fallback.
  Fallback fallback = Fallback::unknown_tier;
};

/// Tier by client. Names are kept until there is a secret, fingerprints from then on.
class Assignments {
 public:
  /// The tier that `client` had before, if any.
  std::optional<TierId> set(std::string_view client, TierId tier);
  std::optional<TierId> remove(std::string_view client);
  [[nodiscard]] const TierId* find(const Fingerprint& client) const noexcept;
  void seed(const Secret& secret);
  [[nodiscard]] std::size_t size() const noexcept { return named_.size() + placed_.size(); }

  template <class Visit>
  void each_tier(Visit visit) const {
    for (const auto& entry : named_) visit(entry.second);
    for (const auto& entry : placed_) visit(entry.second);
  }

 private:
  struct Hash {
    std::size_t operator()(const Fingerprint& client) const noexcept { return client.a; }
  };
  std::map<std::string, TierId, std::less<>> named_;
  std::unordered_map<Fingerprint, TierId, Hash> placed_;
  std::optional<Secret> secret_;
};

/// The tiers by name and number, the document's assignments and those made while running, which come first.
class TierDirectory {
 public:
  /// The number of a name that somebody uses.
  [[nodiscard]] std::optional<TierId> find(std::string_view name) const;
  [[nodiscard]] TierEntry& operator[](TierId tier) noexcept { return entries_[tier]; }
  [[nodiscard]] const TierEntry& operator[](TierId tier) const noexcept { return entries_[tier]; }

  /// Counts one more user of the name.
  TierId acquire(std::string_view name);
  /// Counts one user less; the number of a name that nobody uses may come to stand for another.
  void release(TierId tier);

  /// Puts a client into a tier, or with nullopt back where the document has it.
  void assign(std::string_view client, std::optional<std::string_view> tier);
  /// The tier that the client is assigned to.
  [[nodiscard]] std::optional<TierId> assigned(const Fingerprint& client) const noexcept;
  /// Assignments made while running.
  [[nodiscard]] std::size_t assignments() const noexcept { return assigned_.size(); }

  /// Takes the document's assignments in place of the last document's.
  void replace_document(Assignments document);
  void seed(const Secret& secret);

  template <class Visit>
  void each(Visit visit) {
    for (TierEntry& entry : entries_) {
      if (entry.users != 0) visit(entry);
    }
  }

 private:
  std::vector<TierEntry> entries_;
  std::vector<TierId> unused_;
  std::map<std::string, TierId, std::less<>> by_name_;
  Assignments document_;
  Assignments assigned_;
};

}  // namespace tierlimit
