// SPDX-License-Identifier: MIT
/// \file
/// All of tierlimit: rate limiting by token buckets and windows, with tiers, several limits at once and live policies.
///
/// `TierLimiter` (limiter.hpp) is what decides. Policy text becomes a `PolicySet` (policy_set.hpp); the pure steps of
/// the algorithms are in token_bucket.hpp, sliding_window.hpp and fixed_window.hpp; codec.hpp is the format of
/// snapshots.
#pragma once

#include "tierlimit/block.hpp"
#include "tierlimit/bucket.hpp"
#include "tierlimit/bucket_table.hpp"
#include "tierlimit/codec.hpp"
#include "tierlimit/decimal.hpp"
#include "tierlimit/decision.hpp"
#include "tierlimit/error.hpp"
#include "tierlimit/fingerprint.hpp"
#include "tierlimit/fingerprint_table.hpp"
#include "tierlimit/fixed_window.hpp"
#include "tierlimit/limiter.hpp"
#include "tierlimit/list.hpp"
#include "tierlimit/micros.hpp"
#include "tierlimit/policy.hpp"
#include "tierlimit/policy_set.hpp"
#include "tierlimit/siphash.hpp"
#include "tierlimit/sliding_window.hpp"
#include "tierlimit/tier_directory.hpp"
#include "tierlimit/token_bucket.hpp"
#include "tierlimit/window_log.hpp"
