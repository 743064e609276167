// SPDX-License-Identifier: MIT
#include "tierlimit/tier_directory.hpp"

#include <utility>

namespace tierlimit {
namespace {

template <class Map, class Key>
std::optional<TierId> take(Map& map, const Key& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  const TierId tier = found->second;
  map.erase(found);
  return tier;
}

}  // namespace

std::optional<TierId> Assignments::set(std::string_view client, TierId tier) {
  const std::optional<TierId> before = remove(client);
  if (secret_) {
    placed_.emplace(Fingerprint::of(*secret_, client), tier);
  } else {
    named_.emplace(client, tier);
  }
  return before;
}

std::optional<TierId> Assignments::remove(std::string_view client) {
  return secret_ ? take(placed_, Fingerprint::of(*secret_, client)) : take(named_, client);
}

const TierId* Assignments::find(const Fingerprint& client) const noexcept {
  const auto found = placed_.find(client);
  return found == placed_.end() ? nullptr : &found->second;
}

void Assignments::seed(const Secret& secret) {
  secret_ = secret;
  placed_.reserve(named_.size());
  for (const auto& [client, tier] : named_) placed_.emplace(Fingerprint::of(secret, client), tier);
  named_.clear();
}

std::optional<TierId> TierDirectory::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

TierId TierDirectory::acquire(std::string_view name) {
  std::optional<TierId> tier = find(name);
  if (!tier) {
    if (unused_.empty()) {
      tier = static_cast<TierId>(entries_.size());
      entries_.emplace_back();
    } else {
      tier = unused_.back();
      unused_.pop_back();
    }
    entries_[*tier].name = name;
    by_name_.emplace(name, *tier);
  }
  ++entries_[*tier].users;
  return *tier;
}

void TierDirectory::release(TierId tier) {
  TierEntry& entry = entries_[tier];
  if (--entry.users != 0) return;
  take(by_name_, entry.name);
  entry = TierEntry{};
  unused_.push_back(tier);
}

void TierDirectory::assign(std::string_view client, std::optional<std::string_view> tier) {
  const std::optional<TierId> before = tier ? assigned_.set(client, acquire(*tier)) : assigned_.remove(client);
  if (before) release(*before);
}

std::optional<TierId> TierDirectory::assigned(const Fingerprint& client) const noexcept {
  for (const Assignments* assignments : {&assigned_, &document_}) {
    if (const TierId* const tier = assignments->find(client)) return *tier;
  }
  return std::nullopt;
}

void TierDirectory::replace_document(Assignments document) {
  std::swap(document_, document);
  document.each_tier([this](TierId tier) { release(tier); });
}

void TierDirectory::seed(const Secret& secret) {
  document_.seed(secret);
  assigned_.seed(secret);
}

}  // namespace tierlimit
