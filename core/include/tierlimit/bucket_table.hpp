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
  std::uint32_t definition = 0;  ///< The limit that last judged the bucket, by the limiter's number; 0: an empty slot.
  BucketState state;

  [[nodiscard]] bool used() const noexcept { return definition != 0; }
};
static_assert(sizeof(Slot) == 32);

using BucketTable = FingerprintTable<Slot>;

}  // namespace tierlimit
