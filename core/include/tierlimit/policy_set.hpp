// SPDX-License-Identifier: MIT
/// \file
/// A policy document: the default, the tiers and the clients assigned to them.
#pragma once

#include <cstdint>
#include <string_view>

#include "tierlimit/block.hpp"
#include "tierlimit/error.hpp"
#include "tierlimit/list.hpp"
#include "tierlimit/policy.hpp"

namespace tierlimit {

/// A tier that the document names.
struct Tier {
  using MovesAsBytes = void;

  std::string_view name;
  /// Where it is not valid, the default judges the tier's clients.
  Policy policy;
};

/// A client that the document puts into a tier (which need not be in the document).
struct ClientTier {
  std::string_view client;
  std::string_view tier;
};

/// Everything that one policy document says, checked. Names are views into `text` and `strings`.
struct PolicySet {
  Policy default_policy;
  /// Sorted by name (bytes), each name once.
  List<Tier> tiers;
  /// In the order of the document, each client once.
  List<ClientTier> clients;
  /// What was refused and is judged by the default: invalid tiers, and clients of a tier that is not there. In the
  /// order of the document; a tier with several faults is listed with each.
  List<Error> rejected;
  /// What is in force though not exactly as written (`rate_rounded`).
  List<Error> warnings;

  Text text;            ///< What was read by `from_json`.
  Block<char> strings;  ///< What strings with escapes say.

  /// Reads a policy document (RFC 8259 JSON in UTF-8, one byte order mark at the start allowed).
  ///
  /// A document is refused whole, with every fault that was found, for: text that is not JSON or not UTF-8, a lone
  /// surrogate (escaped or not), a member name given twice in one object, more than 32 levels of nesting, a number
  /// beyond the range of a double, anything after the document, an unknown or wrongly typed top-level member, a client
  /// whose tier is not a string, a missing or invalid default. With `strict` also for everything that would otherwise
  /// be listed in `rejected`. Memory that cannot be had is one `out_of_memory` without a place.
  ///
  /// A policy (the default, or a tier's) is one limit, which is called `main`: a token bucket by `capacity` and either
  /// `refillPerSecond` or `refill`, or a window by `algorithm`, `limit` and `windowSeconds`. Or it is `limits`, an
  /// array of 1 to 8 of these, each with a `name` of its own. `onRaise` and `accrual` are for token buckets. Beside
  /// `limits`, `algorithm`, `onRaise` and `accrual` stand for all limits that have none of their own. One invalid limit
  /// makes the whole policy invalid, and nothing is warned of in an invalid policy.
  ///
  /// Faults are listed in the order of the text, what is missing at the end of the object that misses it. Only the
  /// first is told of a text that is not JSON; repeated names and numbers beyond a double are told before what the
  /// document says is looked at.
  [[nodiscard]] static Result<PolicySet, List<Error>> from_json(std::string_view text, bool strict = false);

  /// The tier of that name, or null.
  [[nodiscard]] const Tier* find(std::string_view name) const noexcept;
};

}  // namespace tierlimit
