// SPDX-License-Identifier: MIT
#include "tierlimit/decision.hpp"

#include "catch.hpp"

using tierlimit::Decision;
using tierlimit::Fallback;
using tierlimit::Reason;

TEST_CASE("decision: reasons are told in kebab case") {
  CHECK(to_string(Reason::ok) == "ok");
  CHECK(to_string(Reason::exhausted) == "exhausted");
  CHECK(to_string(Reason::cost_exceeds_capacity) == "cost-exceeds-capacity");
  CHECK(to_string(Reason::never_refills) == "never-refills");
  CHECK(to_string(Reason::table_full) == "table-full");
}

TEST_CASE("decision: fallbacks are told in kebab case") {
  CHECK(to_string(Fallback::none).empty());
  CHECK(to_string(Fallback::no_tier) == "no-tier");
  CHECK(to_string(Fallback::unknown_tier) == "unknown-tier");
  CHECK(to_string(Fallback::invalid_tier_policy) == "invalid-tier-policy");
}

TEST_CASE("decision: one that nobody made admits nothing") {
  const Decision decision;
  CHECK_FALSE(decision.allowed);
  CHECK(decision.remaining == 0);
  CHECK_FALSE(decision.retry.has_value());
  CHECK_FALSE(decision.tier.has_value());
}
