// SPDX-License-Identifier: MIT
/// \file
/// Limits and numbers as a policy document spells them.
#pragma once

#include <string_view>

#include "catch.hpp"
#include "tierlimit/decimal.hpp"
#include "tierlimit/policy.hpp"

inline tierlimit::Decimal decimal(std::string_view text) {
  const auto number = tierlimit::Decimal::parse(text);
  INFO("not a number: " << text);
  REQUIRE(number.has_value());
  return *number;
}

inline tierlimit::Result<tierlimit::Limit> make_limit(std::string_view capacity, std::string_view tokens,
                                                      std::string_view seconds = "1") {
  return tierlimit::Limit::make(decimal(capacity), decimal(tokens), decimal(seconds));
}

inline tierlimit::Result<tierlimit::Limit> make_window(tierlimit::Algorithm algorithm, std::string_view limit,
                                                       std::string_view seconds) {
  return tierlimit::Limit::window(algorithm, decimal(limit), decimal(seconds));
}

/// A limit that is known to be valid.
inline tierlimit::Limit limit_of(std::string_view capacity, std::string_view tokens, std::string_view seconds = "1") {
  const auto limit = make_limit(capacity, tokens, seconds);
  INFO(capacity << " tokens and " << tokens << " every " << seconds << " s");
  REQUIRE(limit.ok());
  return limit.value();
}

/// A window that is known to be valid.
inline tierlimit::Limit window_of(tierlimit::Algorithm algorithm, std::string_view limit, std::string_view seconds) {
  const auto made = make_window(algorithm, limit, seconds);
  INFO(limit << " in a window of " << seconds << " s");
  REQUIRE(made.ok());
  return made.value();
}
