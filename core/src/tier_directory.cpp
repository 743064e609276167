// SPDX-License-Identifier: MIT
#include "tierlimit/tier_directory.hpp"

#include <algorithm>
#include <utility>

namespace tierlimit {

std::optional<TierId> Assignments::set(std::string_view client, std::optional<TierId> tier) {
  if (!secret_) {
    if (!notes_.empty() && notes_.back().client == client) return std::exchange(notes_.back().tier, tier);
    notes_.push_back({client, tier});
    return std::nullopt;
  }
  return set(Fingerprint::of(*secret_, client), tier);
}

std::optional<TierId> Assignments::set(const Fingerprint& fingerprint, std::optional<TierId> tier) {
  Slot* place = placed_.seek(fingerprint);
  std::optional<TierId> before;
  if (place != nullptr) before = tier_of(*place);
  if (!tier) {
    if (place != nullptr) placed_.erase(*place);
    return before;
  }
  if (place == nullptr) place = placed_.insert(fingerprint);
  if (place == nullptr) return tier;
  place->definition = (*tier + 1) & 0x7fff'ffff;
  return before;
}

std::uint32_t Assignments::size() const {
  if (notes_.empty()) return placed_.size();
  // Several notes may be about one client.
  Assignments counted;
  counted.secret_ = Secret{};
  for (const TierNote& note : notes_) counted.set(note.client, note.tier);
  return counted.placed_.size();
}

void Assignments::swap(Assignments& other) noexcept {
  notes_.swap(other.notes_);
  placed_.swap(other.placed_);
  secret_.swap(other.secret_);
}

std::size_t TierDirectory::place_of(std::string_view name) const noexcept {
  std::size_t low = 0;
  std::size_t high = by_name_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (entries_[by_name_[middle]].name.view() < name) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::optional<TierId> TierDirectory::find(std::string_view name) const noexcept {
  const std::size_t place = place_of(name);
  if (place == by_name_.size() || !(entries_[by_name_[place]].name == name)) return std::nullopt;
  return by_name_[place];
}

TierId TierDirectory::acquire(std::string_view name) {
  std::optional<TierId> tier = find(name);
  if (!tier) {
    if (unused_ == none) {
      unused_ = static_cast<TierId>(entries_.size());
      entries_.emplace_back().judge = none;
    }
    tier = unused_;
    unused_ = std::exchange(entries_[*tier].judge, 0);
    entries_[*tier].name = name;
    const std::size_t place = place_of(name);
    by_name_.push_back(*tier);
    std::copy_backward(by_name_.data() + place, &by_name_.back(), &by_name_.back() + 1);
    by_name_[place] = *tier;
  }
  ++entries_[*tier].users;
  return *tier;
}

void TierDirectory::release(TierId tier) noexcept {
  TierEntry& entry = entries_[tier];
  if (--entry.users != 0) return;
  by_name_.erase(place_of(entry.name));
  entry = TierEntry{};
  entry.judge = std::exchange(unused_, tier);
}

void TierDirectory::assign(std::string_view client, std::optional<TierId> tier) {
  const std::optional<TierId> unused = assigned_.set(client, tier);
  if (unused) release(*unused);
}

std::optional<TierId> TierDirectory::own(const Fingerprint& client) const noexcept {
  return assigns() ? assigned(client) : std::nullopt;
}

bool TierDirectory::set_raise(const Fingerprint& client, OnRaise on_raise) noexcept {
  Slot* slot = raises_.seek(client);
  if (on_raise == OnRaise::keep) {
    if (slot != nullptr) raises_.erase(*slot);
    return true;
  }
  if (slot == nullptr) slot = raises_.insert(client);
  if (slot == nullptr) return false;
  slot->definition = 1;
  slot->state.balance = static_cast<std::int64_t>(on_raise);
  return true;
}

void TierDirectory::replace_document(Assignments& document) {
  document_.swap(document);
  document.each_tier([this](TierId tier) { release(tier); });
}

void TierDirectory::seed(const Secret& secret) {
  const auto drop = [this](TierId tier) { release(tier); };
  document_.seed(secret, drop);
  assigned_.seed(secret, drop);
}

}  // namespace tierlimit
