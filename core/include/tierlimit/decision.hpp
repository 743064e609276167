// SPDX-License-Identifier: MIT
/// \file
/// What a caller learns.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tierlimit {

/// Why a request was admitted or refused.
enum class Reason : std::uint8_t {
  ok,
  exhausted,              ///< Too few tokens now; `retry` says when.
  cost_exceeds_capacity,  ///< The cost is above the capacity: never.
  never_refills,          ///< Too few tokens and a rate of 0: never.
  table_full,             ///< No room to remember one more client.
};

/// Why the default policy judged a client.
enum class Fallback : std::uint8_t {
  none,                 ///< It did not: the client's own tier judged.
  no_tier,              ///< The client has no tier.
  unknown_tier,         ///< The client's tier is not in the document.
  invalid_tier_policy,  ///< What the document says about the client's tier is invalid.
};

/// In kebab case: `cost-exceeds-capacity`.
[[nodiscard]] std::string_view to_string(Reason reason) noexcept;
/// In kebab case: `unknown-tier`; empty for `none`.
[[nodiscard]] std::string_view to_string(Fallback fallback) noexcept;

/// What one limit says to one request.
struct LimitDecision {
  std::string_view name;  ///< Valid until the limiter's next call.
  double limit = 0;       ///< Its capacity, as configured.
  /// Whole tokens in its bucket after this decision; that of a peek charges nothing.
  std::int64_t remaining = 0;
  std::optional<std::uint64_t> retry;  ///< Microseconds until it admits the same request; 0 now, nullopt never.
  std::optional<std::uint64_t> reset;  ///< Microseconds until its bucket is full; 0 when it is, nullopt when never.
  /// Microseconds in which all of the limit comes back, whatever is left of it now: of a window its length, of a token
  /// bucket the time in which an empty one fills, rounded up. nullopt: it never refills.
  std::optional<std::uint64_t> window;
  /// Microseconds within which no more than `remaining` can be used, if nothing is put back: until a bucket would have
  /// one more token if its capacity were larger, until the oldest charge leaves a sliding window, until a fixed one
  /// ends. nullopt: for ever.
  std::optional<std::uint64_t> more;
};

/// The answer to one request. Of several limits that judge together the members are those of the one that binds: of a
/// denied request the one with the longest wait, of an admitted one that with the fewest whole tokens left for its
/// capacity; of equals the first.
struct Decision {
  bool allowed = false;
  /// Capacity of the limit that judged, as configured.
  double limit = 0;
  /// Whole tokens in the bucket after this decision; that of a peek charges nothing.
  std::int64_t remaining = 0;
  /// Microseconds until the same request is admitted if nothing else touches the bucket: 0 when allowed, nullopt when
  /// never.
  std::optional<std::uint64_t> retry;
  /// Microseconds until the bucket is full: 0 when it is, nullopt when never.
  std::optional<std::uint64_t> reset;
  /// Microseconds in which all of the limit comes back: the length of a window, the time in which an empty bucket
  /// fills, rounded up. nullopt when never.
  std::optional<std::uint64_t> window;
  /// The tier asked for, whether or not the document has it. Valid until the limiter's next call. nullopt: none.
  std::optional<std::string_view> tier;
  std::string_view limit_name;  ///< Valid until the limiter's next call.
  Reason reason = Reason::ok;
  Fallback fallback = Fallback::none;
  std::vector<LimitDecision> limits;  ///< Each that judged, in the order of the document.
};

}  // namespace tierlimit
