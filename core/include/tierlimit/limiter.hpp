// SPDX-License-Identifier: MIT
/// \file
/// The limiter: policies, buckets and the step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tierlimit/bucket_table.hpp"
#include "tierlimit/decision.hpp"
#include "tierlimit/error.hpp"
#include "tierlimit/micros.hpp"
#include "tierlimit/policy_set.hpp"
#include "tierlimit/siphash.hpp"
#include "tierlimit/tier_directory.hpp"
#include "tierlimit/token_bucket.hpp"

namespace tierlimit {

/// The largest cost: 2^53 - 1, so that every cost is exact as a double.
inline constexpr std::uint64_t max_cost = (std::uint64_t{1} << 53) - 1;

/// How a limiter is set up. Fixed for its lifetime.
struct LimiterOptions {
  /// What happens to a new client where there is no room for one more bucket.
  enum class OnFull : std::uint8_t {
    /// Forget another: among a sample of at least 8 the one that would be full soonest; one that never would only where
    /// all are such, and then the one that lacks the fewest tokens. Of equals the one that was not touched for longest.
    evict,
    deny,  ///< Refuse the new client with `Reason::table_full`.
  };

  std::uint32_t max_clients = 262'144;    ///< Buckets remembered at the same time, at least 8.
  std::uint64_t max_bytes = 48ULL << 20;  ///< Memory for buckets in bytes, at least 1024; whichever bound comes first.
  OnFull on_full = OnFull::evict;
  bool strict = false;  ///< Refuse a policy document for what would otherwise be listed as rejected.
  bool sweep = true;    ///< Forget buckets that are full again: see `TierLimiter`.
};

/// One request.
struct Request {
  std::string_view client;  ///< Any bytes; two different strings are two clients.
  std::uint64_t cost = 1;   ///< Whole tokens, 1 to `max_cost`.
  /// The tier for this request alone. nullopt: as assigned by `set_tier`, else by the document, else the default.
  std::optional<std::string_view> tier = std::nullopt;
};

/// Which tier a request is judged by, for callers that look the name up once (`TierLimiter::tier`).
struct TierChoice {
  static constexpr std::int32_t assigned = -1;  ///< The client's own.
  static constexpr std::int32_t unknown = -2;   ///< One that the document in force does not have.

  /// A tier's number (good until the next `set_policies`) or one of the above. One number, so that it travels in a
  /// register.
  std::int32_t number = assigned;
};

/// A decision as integers, cheap to make; `TierLimiter::describe` tells what it means.
struct Judgement {
  enum class Status : std::uint8_t { admitted, denied, clock, invalid_cost, not_seeded, no_policies };
  Status status = Status::denied;
  Reason reason = Reason::ok;
  Fallback fallback = Fallback::none;
  bool has_tier = false;
  TierId tier = 0;               ///< When `has_tier`.
  const Limit* limit = nullptr;  ///< What judged, of an admitted or denied one. Good until the limiter's next call.
  BucketState state;             ///< After this decision; `preview` charges nothing. On a clock error: as it is.
  std::uint64_t wait = 0;        ///< Of a full table: microseconds until there may be room, or `never`.
};

/// What a limiter has done and holds.
struct LimiterStats {
  std::uint32_t buckets = 0;
  std::uint64_t bytes = 0;      ///< Memory that the buckets take.
  std::size_t assignments = 0;  ///< Clients that `set_tier` has put into a tier.
  std::uint64_t allowed = 0;
  std::uint64_t denied = 0;
  std::uint64_t evictions = 0;   ///< Buckets forgotten for want of room before they were full; unswept, also full ones.
  double evicted_tokens = 0;     ///< Tokens that those clients have got back by it at the most, by the limits in force.
  std::uint64_t swept = 0;       ///< Buckets forgotten because they were full.
  std::uint64_t table_full = 0;  ///< Denials for want of room; also counted in `denied`.
};

/// Decides for every request whether its client may proceed.
///
/// A client that was never seen starts with a full bucket. Each decision looks up the client's present tier and that
/// tier's present policy, accrues the time since the last touch and charges the cost if the bucket holds it. A bucket
/// is forgotten (swept: half a slot of the table is looked at for each decision, five more for each new client, a row
/// of them at a time) only when it is full under the limit that last judged it and under those that would judge it now,
/// and if several tiers have judged it, under every limit in force: then the client is as good as never seen, until the
/// next policy or tier change.
///
/// Not thread-safe: one limiter for one thread.
///
///     tierlimit::TierLimiter limiter;
///     auto loaded = limiter.set_policies(R"({"default": {"capacity": 5, "refillPerSecond": 1}})");
///     limiter.seed({random_1, random_2});
///     auto decision = limiter.check({.client = "acme", .cost = 2}, now_in_microseconds);
///     if (decision && decision.value().allowed) …
class TierLimiter {
 public:
  explicit TierLimiter(const LimiterOptions& options = {});

  /// Puts a policy document in force (see `PolicySet::from_json`); returns its revision: 1 for the first, then one more
  /// each time. A refused document changes nothing. Takes effect for each client at its next decision; no balance
  /// changes by itself. Assignments made by `set_tier` stay.
  [[nodiscard]] Result<std::uint32_t, std::vector<Error>> set_policies(std::string_view json);
  /// 0 before the first document.
  [[nodiscard]] std::uint32_t revision() const noexcept { return revision_; }
  /// What of the document in force was refused and is judged by the default.
  [[nodiscard]] const std::vector<Error>& rejected() const noexcept { return rejected_; }
  /// What of the document in force is not exactly as written.
  [[nodiscard]] const std::vector<Error>& warnings() const noexcept { return warnings_; }

  /// Gives the limiter its secret: 16 random bytes, once, before the first decision. Clients are told apart by a keyed
  /// hash, so that nobody can choose names that fall together. False, with nothing changed, where there is no memory to
  /// find places for the clients that are assigned to tiers.
  bool seed(const Secret& secret);
  [[nodiscard]] bool seeded() const noexcept { return secret_.has_value(); }

  /// Puts a client into a tier (which need not exist) until it is set anew; nullopt takes that back. Takes effect at
  /// the client's next decision; its balance stays. Fails with `out_of_memory`.
  [[nodiscard]] Result<bool> set_tier(std::string_view client, std::optional<std::string_view> tier);

  /// Decides and charges.
  /// \param now  microseconds of a monotonic clock, within `max_micros` of zero
  /// Fails, and changes nothing, with `clock` when `now` is earlier than the bucket's last touch, or, for a client
  /// without a bucket, earlier than buckets were forgotten as full (it may have been one of them), and with
  /// `invalid_cost`, `invalid_time`, `not_seeded` or `no_policies`.
  [[nodiscard]] Result<Decision> check(const Request& request, std::int64_t now);
  /// Whether `check` would admit the request now. `remaining` and `reset` are of the bucket as it is, accrued and not
  /// charged; the rest is what `check` would answer. Nothing is stored. Fails as `check` does.
  [[nodiscard]] Result<Decision> peek(const Request& request, std::int64_t now);

  /// What stands for the client from the seeding on, whatever becomes of its bucket: for callers that ask of the same
  /// one again and again. nullopt before the limiter is seeded.
  [[nodiscard]] std::optional<Fingerprint> fingerprint(std::string_view client) const noexcept {
    return secret_ ? std::optional{Fingerprint::of(*secret_, client)} : std::nullopt;
  }
  /// The hash that makes a fingerprint of a name in pieces. Only of a seeded limiter.
  [[nodiscard]] Fingerprint::Hash hash() const noexcept { return Fingerprint::Hash(*secret_); }
  /// The choice of a tier by its name.
  [[nodiscard]] TierChoice tier(std::string_view name) const;
  /// `check` without the words, for callers that count nanoseconds. `now` is within `max_micros` of zero.
  [[nodiscard]] Judgement judge(const Fingerprint& client, TierChoice tier, std::uint64_t cost, std::int64_t now) {
    return decide(client, tier, cost, now, true);
  }
  [[nodiscard]] Judgement judge(std::string_view client, TierChoice tier, std::uint64_t cost, std::int64_t now) {
    return judge(fingerprint_of(client), tier, cost, now);
  }
  /// `judge` for those who want to know only whether the request is admitted.
  [[nodiscard]] Judgement::Status admit(const Fingerprint& client, TierChoice tier, std::uint64_t cost,
                                        std::int64_t now);
  [[nodiscard]] Judgement::Status admit(std::string_view client, TierChoice tier, std::uint64_t cost,
                                        std::int64_t now) {
    return admit(fingerprint_of(client), tier, cost, now);
  }
  /// `peek` without the words.
  [[nodiscard]] Judgement preview(const Fingerprint& client, TierChoice tier, std::uint64_t cost, std::int64_t now) {
    return decide(client, tier, cost, now, false);
  }
  [[nodiscard]] Judgement preview(std::string_view client, TierChoice tier, std::uint64_t cost, std::int64_t now) {
    return preview(fingerprint_of(client), tier, cost, now);
  }
  /// The earliest time at which the client may be judged; an earlier one is a clock error.
  [[nodiscard]] std::int64_t earliest(const Fingerprint& client) const noexcept;
  /// What a judgement (admitted or denied) of this limiter means.
  [[nodiscard]] Decision describe(const Judgement& judgement, std::uint64_t cost) const;
  /// The name of a tier that the document in force has or a client is assigned to. nullopt: no such tier.
  [[nodiscard]] std::optional<std::string_view> tier_name(TierId tier) const noexcept {
    return directory_.has(tier) ? std::optional<std::string_view>{directory_[tier].name} : std::nullopt;
  }

  [[nodiscard]] LimiterStats stats() const;

 private:
  // A limit as buckets refer to it.
  struct Definition {
    Limit limit;
    TierId tier = no_tier;    // Whose limit it is: kept alive by it. The default's is no tier's. Unused: the next one.
    std::uint32_t users = 0;  // Slots, and the document in force.
  };
  static constexpr TierId no_tier = ~TierId{0};

  // A client without a bucket may be one that was forgotten: full at a time that this clock had not come to yet.
  [[nodiscard]] std::int64_t earliest(const Slot* slot) const noexcept {
    return slot != nullptr ? slot->state.touched : swept_at_;
  }
  [[nodiscard]] bool ready() const noexcept { return revision_ != 0 && secret_.has_value(); }
  // Any, before there is a secret: nothing is decided then.
  [[nodiscard]] Fingerprint fingerprint_of(std::string_view client) const noexcept {
    return secret_ ? Fingerprint::of(*secret_, client) : Fingerprint{};
  }
  [[nodiscard]] TierChoice looked_up(const Fingerprint& client, TierChoice tier) const noexcept;
  [[nodiscard]] std::uint32_t definition_of(TierChoice tier) const noexcept;
  [[nodiscard]] Judgement decide(const Fingerprint& client, TierChoice tier, std::uint64_t cost, std::int64_t now,
                                 bool store) noexcept;
  void foresee(Judgement& judgement, const Fingerprint& client, const Slot* slot, std::uint64_t cost,
               std::int64_t now) const noexcept;
  [[nodiscard]] BucketState state_under(const Slot& slot, const Limit& limit) const noexcept;

  // A bucket that may have to go, and what forgetting it comes to.
  struct Candidate {
    Slot* slot;
    std::uint64_t loss;
  };
  [[nodiscard]] std::int64_t balance_under(const Limit& limit, const Slot& slot, std::int64_t now) const noexcept;
  [[nodiscard]] Candidate first_to_go(const Fingerprint& client, std::uint32_t sample, std::int64_t now) const noexcept;
  [[nodiscard]] bool turned_away(const Candidate& candidate) const noexcept;
  void table_full(Judgement& judgement, const Candidate& candidate, std::int64_t now) const noexcept;
  void decided(bool admitted, std::int64_t now) noexcept;
  [[nodiscard]] Slot* room_for_new(Judgement& judgement, const Fingerprint& client, std::int64_t now) noexcept;
  [[nodiscard]] Slot* make_room(const Fingerprint& client, const Candidate& candidate, std::int64_t now) noexcept;
  void forget(Slot& slot) noexcept;
  void forget_full(Slot& slot, std::int64_t now) noexcept;
  void use(Slot& slot, std::uint32_t definition) noexcept;
  template <class Visit>
  void each_possible(const Slot& slot, std::int64_t now, Visit visit) const noexcept;
  [[nodiscard]] double given_away(const Slot& slot, std::int64_t now) const noexcept;
  [[nodiscard]] std::uint64_t time_to_full(const Slot& slot, std::int64_t now) const noexcept;
  void sweep(std::int64_t now) noexcept;

  [[nodiscard]] TierId acquire_tier(std::string_view name);
  [[nodiscard]] std::uint32_t define(TierId tier, std::uint32_t present, const Limit& limit);
  [[nodiscard]] std::size_t room_to_install(const PolicySet& policies) const noexcept;
  void install(PolicySet&& policies);
  void release(std::uint32_t definition) noexcept;

  LimiterOptions options_;
  std::optional<Secret> secret_;
  std::uint32_t revision_ = 0;
  std::vector<Error> rejected_;
  std::vector<Error> warnings_;

  std::vector<Definition> definitions_;  // [0] is nobody's: slots use 0 for empty
  std::uint32_t unused_definition_ = 0;  // the first one; 0: all are used
  std::vector<TierId> document_tiers_;
  std::vector<std::uint32_t> document_definitions_;
  std::uint32_t default_definition_ = 0;

  TierDirectory directory_;
  BucketTable table_;
  BucketTable::Hand sweep_at_;
  std::uint32_t sweep_due_ = 0;          // Work for the sweep, done when there is enough.
  std::int64_t round_began_ = 0;         // When the sweep last came by the first slot,
  std::int64_t last_round_began_ = 0;    // and when the time before.
  std::int64_t swept_at_ = -max_micros;  // The latest time at which a bucket was forgotten as full.
  LimiterStats stats_;
};

}  // namespace tierlimit
