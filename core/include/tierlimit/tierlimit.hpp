// SPDX-License-Identifier: MIT
/// \file
/// All of tierlimit: token-bucket rate limiting with tiers and live policies.
#pragma once

#include "tierlimit/bucket_table.hpp"
#include "tierlimit/decimal.hpp"
#include "tierlimit/decision.hpp"
#include "tierlimit/error.hpp"
#include "tierlimit/fingerprint.hpp"
#include "tierlimit/fingerprint_table.hpp"
#include "tierlimit/limiter.hpp"
#include "tierlimit/micros.hpp"
#include "tierlimit/policy.hpp"
#include "tierlimit/policy_set.hpp"
#include "tierlimit/siphash.hpp"
#include "tierlimit/tier_directory.hpp"
#include "tierlimit/token_bucket.hpp"
