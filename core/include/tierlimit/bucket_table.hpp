// SPDX-License-Identifier: MIT
/// \file
/// The buckets of all clients.
#pragma once

#include <cstdint>

#include "tierlimit/fingerprint_table.hpp"
#include "tierlimit/token_bucket.hpp"

namespace tierlimit {

/// One bucket: 32 bytes.
struct Slot {
  Fingerprint client;
  /// The limit that last judged the bucket, by the limiter's number; 0: an empty slot.
  std::uint32_t definition : 31 = 0;
  /// Whether limits of more than one tier have judged it.
  std::uint32_t several_tiers : 1 = 0;
  BucketState state;

  [[nodiscard]] bool used() const noexcept { return definition != 0; }
};
static_assert(sizeof(Slot) == 32);

using BucketTable = FingerprintTable<Slot>;
extern template class FingerprintTable<Slot>;

}  // namespace tierlimit
