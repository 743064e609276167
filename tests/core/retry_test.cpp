// SPDX-License-Identifier: MIT
// Obeying the answer always works (S9), whatever the rate.
#include <cmath>
#include <cstdint>
#include <string>

#include "catch.hpp"
#include "tierlimit/tierlimit.hpp"

namespace {

tierlimit::Decision decide(tierlimit::TierLimiter& limiter, const std::string& client, double now_ms) {
  const auto now = tierlimit::to_micros(now_ms);
  REQUIRE(now.has_value());
  const auto decision = limiter.check({.client = client}, *now);
  REQUIRE(decision.ok());
  return decision.value();
}

/// A client that spent its one token at `start_ms` is denied after `later_ms`, and comes back when it is told to.
void obey(tierlimit::TierLimiter& limiter, const std::string& client, double start_ms, double later_ms) {
  REQUIRE(decide(limiter, client, start_ms).allowed);
  const double now_ms = start_ms + later_ms;
  const auto denied = decide(limiter, client, now_ms);
  if (denied.allowed) return;  // faster than that
  REQUIRE(denied.retry.has_value());
  const double retry_ms = tierlimit::wait_ms(now_ms, *denied.retry);
  const double before_ms = (std::round((now_ms + retry_ms) * 1000) - 1) / 1000;
  REQUIRE_FALSE(decide(limiter, client, before_ms).allowed);
  REQUIRE(decide(limiter, client, now_ms + retry_ms).allowed);
}

}  // namespace

TEST_CASE("who comes back when the answer said is admitted, and one microsecond earlier is not") {
  // The clients go by different clocks, so that none may be forgotten by the time of another.
  tierlimit::TierLimiter limiter({.sweep = false});
  limiter.seed({1, 2});
  const int seconds = GENERATE(1, 7, 13, 60, 3600);
  for (int tokens = 1; tokens <= 2000; ++tokens) {
    const std::string refill =
        R"({"tokens": )" + std::to_string(tokens) + R"(, "seconds": )" + std::to_string(seconds) + "}";
    INFO(refill);
    REQUIRE(limiter.set_policies(R"({"default": {"capacity": 1, "refill": )" + refill + "}}").ok());
    const std::string client = std::to_string(tokens);
    obey(limiter, "uptime " + client, 0, 0);
    obey(limiter, "later " + client, 12345.678, 0.1);
    obey(limiter, "epoch " + client, 1'700'000'000'000, 0.001);
  }
}
