// SPDX-License-Identifier: MIT
// A candidate document judged beside the one in force.
#include <utility>

#include "memory.hpp"
#include "policy_reader.hpp"
#include "tierlimit/limiter.hpp"

namespace tierlimit {

bool TierLimiter::load_shadow(std::string_view json, List<Error>& errors) {
  if (!memory_available(sizeof(TierLimiter) + directory_.room_to_copy())) {
    add_document_too_large(errors);
    return false;
  }
  auto candidate = std::make_unique<TierLimiter>(options_);
  candidate->is_shadow_ = true;
  if (!candidate->load(json, std::nullopt, errors)) return false;
  static_cast<void>(candidate->seed(*secret_));
  directory_.assigned_table().each([&](const Slot& slot) {
    static_cast<void>(candidate->directory_.assign(
        slot.client, candidate->acquire_tier(directory_[Assignments::tier_of(slot)].name)));
  });
  candidate->look_for_special();
  clear_shadow();
  ++shadow_number_;
  shadow_ = std::move(candidate);
  is_special_ = true;
  // A call may name any tier that the candidate has: their names get numbers here.
  for (const TierId tier : shadow_->document_tiers_) {
    shadow_tiers_.push_back(acquire_tier(shadow_->directory_[tier].name));
  }
  return true;
}

void TierLimiter::clear_shadow() noexcept {
  for (const TierId tier : shadow_tiers_) directory_.release(tier);
  shadow_tiers_.clear();
  shadow_counts_.clear();
  shadow_allows_ = false;
  shadow_.reset();
  look_for_special();
}

// What a choice among the tiers here is among the candidate's.
TierChoice TierLimiter::in_shadow(TierChoice tier) const noexcept {
  return tier.number >= 0 ? shadow_->tier(directory_[static_cast<TierId>(tier.number)].name) : tier;
}

// Judges a request that has been judged, by the candidate, and counts what they said.
void TierLimiter::shade(const Judgement& judgement, const Fingerprint& client, TierChoice asked, std::uint64_t cost,
                        std::int64_t now) noexcept {
  using Status = Judgement::Status;
  const auto decides = [](Status status) { return status == Status::admitted || status == Status::denied; };
  if (!decides(judgement.status)) return;
  const Judgement shadow = shadow_->judge(client, in_shadow(asked), cost, now);
  shadow_allows_ = shadow.status == Status::admitted;
  shadow_limits_ = shadow.limits;
  if (!decides(shadow.status)) return;

  using Class = ShadowCount::ClientClass;
  Class client_class = Class::none;
  if (asked.number != TierChoice::assigned) {
    client_class = Class::call;
  } else if (judgement.has_tier) {
    client_class = directory_.overridden(client) ? Class::assigned : Class::document;
  }
  const TierId tier = judgement.has_tier ? judgement.tier : no_tier;
  std::size_t at = 0;
  while (at < shadow_counts_.size() &&
         (shadow_counts_[at].tier != tier || shadow_counts_[at].client_class != client_class)) {
    ++at;
  }
  if (at == shadow_counts_.size()) {
    if (!memory_available((at + 1) * 2 * sizeof(ShadowCount))) return;
    // The name is kept for as long as it is counted by.
    if (tier != no_tier) shadow_tiers_.push_back(directory_.acquire(directory_[tier].name));
    shadow_counts_.emplace_back();
    shadow_counts_[at].tier = tier;
    shadow_counts_[at].client_class = client_class;
  }
  // In the order of the members.
  std::uint64_t* const counts = &shadow_counts_[at].both_deny;
  ++counts[2 * static_cast<int>(judgement.status == Status::admitted) + static_cast<int>(shadow_allows_)];
}

}  // namespace tierlimit
