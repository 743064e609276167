// SPDX-License-Identifier: MIT
#include <tierlimit/tierlimit.hpp>

int main() {
  tierlimit::TierLimiter limiter;
  limiter.seed({1, 2});
  if (!limiter.set_policies(R"({"default": {"capacity": 5, "refillPerSecond": 1}})")) return 1;
  const auto decision = limiter.check({.client = "acme", .cost = 2}, 0);
  return decision && decision.value().remaining == 3 ? 0 : 1;
}
