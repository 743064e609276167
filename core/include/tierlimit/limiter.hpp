// SPDX-License-Identifier: MIT
/// \file
/// The limiter: policies, buckets and the step.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tierlimit/bucket.hpp"
#include "tierlimit/bucket_table.hpp"
#include "tierlimit/codec.hpp"
#include "tierlimit/decision.hpp"
#include "tierlimit/error.hpp"
#include "tierlimit/list.hpp"
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
    /// Forget another: among a sample of at least 8 the one that would be full soonest (of windows, and where several
    /// limits judge together, the one of which the smallest part is spent); one that never would only where all are
    /// such, and then the one that lacks the fewest tokens. Of equals the one that was not touched for longest. Never
    /// one of the client that is being decided.
    evict,
    deny,  ///< Refuse the new client with `Reason::table_full`.
  };

  std::uint32_t max_clients = 262'144;  ///< Buckets remembered at the same time, at least 8.
  /// Memory for buckets and the logs of sliding windows in bytes, at least 1024; whichever bound comes first.
  std::uint64_t max_bytes = 48ULL << 20;
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
  const Limit* limit = nullptr;  ///< What binds, of an admitted or denied one. Good until the limiter's next call.
  /// After this decision; `preview` charges nothing. On a clock error `touched` is what the time is earlier than.
  BucketState state;
  std::uint64_t wait = 0;     ///< Of a full table: microseconds until there may be room, or `never`.
  std::uint32_t limits = 0;   ///< How many limits judged together; 0: the one of a plain policy.
  std::uint32_t binding = 0;  ///< Which of them binds, from 0.
};

/// What an admitted request was charged to, for who settles it later.
struct Hold {
  /// What stands for the name and the algorithm of each limit that was charged.
  struct Limits {
    std::array<Fingerprint, Policy::most_limits> keys;
    std::uint32_t count = 0;
  };
  std::uint64_t cost = 0;
  std::int64_t at = 0;  ///< Microseconds.
  Limits limits;
  Limits in_shadow;          ///< Of the candidate, where that was charged too.
  std::uint32_t shadow = 0;  ///< The number of the shadow that was charged too, or 0.
};

/// What `TierLimiter::reserve` holds, for `settle`.
struct Reservation {
  Decision decision;  ///< Whether it was admitted: only then anything is held.
  std::string client;
  std::optional<std::string> tier;
  Hold hold;
};

/// What settling a reservation came to.
struct Settlement {
  /// Tokens by which the actual cost was below the estimate; 0 where none of the limits that were charged judges the
  /// client any more.
  std::uint64_t returned = 0;
  std::uint64_t debt = 0;  ///< Tokens that were asked for and not there; of several limits the most.
};

/// How often a candidate's decisions and those in force were the same, by the tier that was asked for and where it came
/// from.
struct ShadowCount {
  /// Where a client's tier comes from.
  enum class ClientClass : std::uint8_t { call, assigned, document, none };

  static constexpr TierId no_tier = ~TierId{0};
  TierId tier = no_tier;  ///< Whose name `TierLimiter::tier_name` knows; `no_tier`: none, or one that no document has.
  ClientClass client_class = ClientClass::none;
  std::uint64_t both_deny = 0;
  std::uint64_t only_shadow_allows = 0;
  std::uint64_t only_live_allows = 0;
  std::uint64_t both_allow = 0;
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

  ~TierLimiter();
  TierLimiter(const TierLimiter&) = delete;
  TierLimiter& operator=(const TierLimiter&) = delete;

  /// The last revision; documents after it have the same.
  static constexpr std::uint32_t last_revision = 0x7fff'ffff;
  /// Puts a policy document in force (see `PolicySet::from_json`); returns its revision: 1 for the first, then one more
  /// each time. A refused document changes nothing. Takes effect for each client at its next decision; no balance
  /// changes by itself. Assignments made by `set_tier` stay.
  /// \param now  the time of the change, of the decisions' clock. It is needed from the second document on where that,
  ///   or the one in force, has a limit whose accrual is prorated: else `invalid_time`, and `clock` where it is earlier
  ///   than the last change. The times of 64 documents are kept, the present one's included.
  [[nodiscard]] Result<std::uint32_t, List<Error>> set_policies(std::string_view json,
                                                                std::optional<std::int64_t> now = std::nullopt) {
    List<Error> errors;
    if (!load(json, now, errors)) return errors;
    return revision_;
  }
  /// The same, with the reasons of a refusal in `errors`, which is empty before. Moving them in and out of a result is
  /// code too.
  [[nodiscard]] bool load(std::string_view json, std::optional<std::int64_t> now, List<Error>& errors);
  /// 0 before the first document.
  [[nodiscard]] std::uint32_t revision() const noexcept { return revision_; }
  /// The time of the change by which the document in force came. nullopt where no time counts.
  [[nodiscard]] std::optional<std::int64_t> changed() const noexcept {
    if (revisions_.empty() || revisions_.back().began == since_ever) return std::nullopt;
    return revisions_.back().began;
  }
  /// What of the document in force was refused and is judged by the default.
  [[nodiscard]] const List<Error>& rejected() const noexcept { return rejected_; }
  /// What of the document in force is not exactly as written.
  [[nodiscard]] const List<Error>& warnings() const noexcept { return warnings_; }

  /// Gives the limiter its secret: 16 random bytes, once, before the first decision. Clients are told apart by a keyed
  /// hash, so that nobody can choose names that fall together. False, with nothing changed, where there is no memory to
  /// find places for the clients that are assigned to tiers.
  bool seed(const Secret& secret);
  [[nodiscard]] bool seeded() const noexcept { return secret_.has_value(); }

  /// Puts a client into a tier (which need not exist) until it is set anew; nullopt takes that back. Takes effect at
  /// the client's next decision; its balance stays.
  /// \param on_raise  what a larger capacity does to its balances, once: at the next decision by its own tier, or the
  ///   next refund or settlement by it if that comes first, and only
  ///   if that tier becomes another one by this call
  /// \param now  the time of the change, of the decisions' clock, needed where the accrual of the new tier's limits is
  ///   prorated: up to it time accrues by the old tier's. Else `invalid_time`, and `clock` where it is too early.
  /// Fails with `out_of_memory`; then, too, nothing has changed.
  [[nodiscard]] Result<bool> set_tier(std::string_view client, std::optional<std::string_view> tier,
                                      OnRaise on_raise = OnRaise::keep,
                                      std::optional<std::int64_t> now = std::nullopt) {
    if (const auto error = assign(client, tier, on_raise, now)) return explain_change(*error);
    return true;
  }
  /// The same, with the reason of a refusal without its words, and those.
  [[nodiscard]] std::optional<ErrorCode> assign(std::string_view client, std::optional<std::string_view> tier,
                                                OnRaise on_raise, std::optional<std::int64_t> now);
  [[nodiscard]] static Error explain_change(ErrorCode code);

  /// Decides and charges.
  /// \param now  microseconds of a monotonic clock, within `max_micros` of zero
  /// Fails, and changes nothing, with `clock` when `now` is earlier than the bucket's last touch, or, for a client
  /// without a bucket, earlier than buckets were forgotten as full (it may have been one of them), and with
  /// `invalid_cost`, `invalid_time`, `not_seeded` or `no_policies`.
  [[nodiscard]] Result<Decision> check(const Request& request, std::int64_t now);
  /// Whether `check` would admit the request now. `remaining` and `reset` are of the bucket as it is, accrued and not
  /// charged; the rest is what `check` would answer. Nothing is stored. Fails as `check` does.
  [[nodiscard]] Result<Decision> peek(const Request& request, std::int64_t now);

  /// Puts tokens back, for a request that turned out to cost less: into each of the limits that judge the client now,
  /// and at most up to its capacity. A fixed window's count is at least 0; of a sliding window the oldest charges that
  /// still count go first, so that there are never more than its limit in any window that were not put back. A client
  /// without a bucket has all it may have. Fails, and changes nothing, as `check` does.
  [[nodiscard]] Result<bool> refund(const Request& request, std::int64_t now);
  /// `check`, with what it takes to `settle` the request when its cost is known.
  [[nodiscard]] Result<Reservation> reserve(const Request& request, std::int64_t now);
  /// Charges an admitted reservation by its actual cost in place of the estimate, once: what it was less is put back
  /// where it was taken from, of what it was more each limit gives what it has, in whole tokens. That the time to
  /// settle is not over yet, and that this is the first time, is the caller's business. Fails as `refund` does. \param
  /// actual  whole tokens, 0 to `max_cost`
  [[nodiscard]] Result<Settlement> settle(const Reservation& reservation, std::uint64_t actual, std::int64_t now);

  /// Judges the same requests by another document from now on, beside the one in force: by its own buckets, which
  /// start full, for counting what it would decide otherwise. Takes as much memory again. An earlier one ends.
  /// Only of a seeded limiter.
  [[nodiscard]] Result<bool, List<Error>> set_shadow_policies(std::string_view json) {
    List<Error> errors;
    if (!load_shadow(json, errors)) return errors;
    return true;
  }
  /// The same, with the reasons of a refusal in `errors`, which is empty before.
  [[nodiscard]] bool load_shadow(std::string_view json, List<Error>& errors);
  void clear_shadow() noexcept;
  /// The limiter of the candidate; null: there is none.
  [[nodiscard]] const TierLimiter* shadow() const noexcept { return shadow_.get(); }
  /// What was counted, of each tier and class that came.
  [[nodiscard]] const List<ShadowCount>& shadow_counts() const noexcept { return shadow_counts_; }

  /// Writes all that the limiter knows, but for its options, statistics and a candidate: the secret (so keep it as
  /// one), the text of the document in force, the limits of those before it whose times may count, assignments and
  /// buckets, with ages in place of times. 32 bytes for each bucket, and for the log of a sliding window 16 for each
  /// microsecond in it. False, with nothing written, of a limiter without a secret or policies.
  [[nodiscard]] bool write_snapshot(const codec::Stream& stream, std::int64_t now);
  /// Takes in what another has written, into a limiter that has neither policies nor a secret yet. All ages are the
  /// same at `now`, so the time between goes by without accruing anything. After a fault the limiter is good for
  /// nothing.
  [[nodiscard]] codec::Fault read_snapshot(const codec::Stream& stream, std::int64_t now);
  /// The same with results: `not_seeded`, `invalid_snapshot`.
  [[nodiscard]] Result<bool> snapshot(const codec::Stream& stream, std::int64_t now) {
    if (write_snapshot(stream, now)) return true;
    return Error{ErrorCode::not_seeded, "a limiter has no snapshot before it has policies and a secret", {}, 0, 0};
  }
  [[nodiscard]] Result<bool> restore(const codec::Stream& stream, std::int64_t now) {
    const codec::Fault fault = read_snapshot(stream, now);
    if (fault == codec::Fault::none) return true;
    return Error{
        ErrorCode::invalid_snapshot, std::string_view("the snapshot " + std::string(to_string(fault))), {}, 0, 0};
  }

  /// What stands for the client from the seeding on, whatever becomes of its bucket: for callers that ask of the same
  /// one again and again. nullopt before the limiter is seeded.
  [[nodiscard]] std::optional<Fingerprint> fingerprint(std::string_view client) const noexcept {
    return secret_ ? std::optional{Fingerprint::of(*secret_, client)} : std::nullopt;
  }
  /// The same; any, before the limiter is seeded: nothing is decided then.
  [[nodiscard]] Fingerprint fingerprint_of(std::string_view client) const noexcept {
    return secret_ ? Fingerprint::of(*secret_, client) : Fingerprint{};
  }
  /// The hash that makes a fingerprint of a name in pieces. Only of a seeded limiter.
  [[nodiscard]] Fingerprint::Hash hash() const noexcept { return Fingerprint::Hash(*secret_); }
  /// The choice of a tier by its name.
  [[nodiscard]] TierChoice tier(std::string_view name) const;
  [[nodiscard]] TierChoice choice(std::optional<std::string_view> name) const {
    return name ? tier(*name) : TierChoice{};
  }
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
  /// The earliest time at which the client may be judged by the tier; an earlier one is a clock error.
  [[nodiscard]] std::int64_t earliest(const Fingerprint& client, TierChoice tier) noexcept;
  /// Whether a client's bucket of a limit is remembered, of whichever tier the limit is. Only of a seeded limiter.
  [[nodiscard]] bool remembers(std::string_view client, std::string_view limit, Algorithm algorithm) const noexcept;
  /// What a judgement (admitted or denied) of this limiter means. `limits` stays empty: `describe_limit` tells of each.
  [[nodiscard]] Decision describe(const Judgement& judgement, std::uint64_t cost) const;
  /// How many limits judged.
  [[nodiscard]] static std::uint32_t limits_of(const Judgement& judgement) noexcept {
    return judgement.limits == 0 ? 1 : judgement.limits;
  }
  /// One of them, from 0, in the order of the document; of the last judgement that was made.
  [[nodiscard]] LimitDecision describe_limit(const Judgement& judgement, std::uint64_t cost, std::uint32_t index) const;
  /// What the last judgement charged, which was an admission.
  [[nodiscard]] Hold hold(const Judgement& judgement, std::uint64_t cost, std::int64_t now) const noexcept;
  /// Puts tokens back where they were taken from (`hold`), or, without, into all limits that judge the client; below 0
  /// charges as many as there are. Gives in `left` what there was not; of tokens to be put back all, where none of the
  /// limits that they were taken from judges the client any more, else 0.
  [[nodiscard]] Judgement::Status put_back(const Fingerprint& client, TierChoice tier, std::int64_t tokens,
                                           std::int64_t now, const Hold* hold, std::uint64_t& left) noexcept {
    const Adjusted adjusted = adjust(client, tier, tokens, now, hold, hold == nullptr ? nullptr : &hold->limits);
    left = adjusted.left;
    return adjusted.status;
  }
  /// The name of a tier that the document in force has or a client is assigned to. nullopt: no such tier.
  [[nodiscard]] std::optional<std::string_view> tier_name(TierId tier) const noexcept {
    return directory_.has(tier) ? std::optional<std::string_view>{directory_[tier].name} : std::nullopt;
  }

  [[nodiscard]] LimiterStats stats() const;

 private:
  // What makes buckets of one client different ones: a limit's name and its algorithm.
  struct Kind {
    LimitName name;
    Algorithm algorithm = Algorithm::token_bucket;
    Fingerprint key;          // What sets its buckets apart. Zero for `main` token buckets, which come first.
    std::uint32_t users = 0;  // Definitions.
  };
  // A limit as buckets refer to it.
  struct Definition {
    Limit limit;
    TierId tier = no_tier;    // Whose limit it is: kept alive by it. The default's is no tier's. Unused: the next one.
    std::uint32_t kind = 0;   // By which buckets are found.
    std::uint32_t users = 0;  // Slots, and what judges.
  };
  // Limits that judge together; one alone, where it is not a plain `main`.
  struct Rule {
    std::array<std::uint32_t, Policy::most_limits> definitions{};
    std::uint32_t size = 0;
    std::uint32_t users = 0;
  };
  // What judges a tier: the number of a definition where that is a plain `main`, so that a bucket's definition tells
  // whether anything has changed; else the number of a rule with this bit, which no bucket's definition has.
  using Judge = std::uint32_t;
  static constexpr Judge together = Judge{1} << 31;
  static constexpr TierId no_tier = ShadowCount::no_tier;

  // A document that is, or was, in force.
  struct Revision {
    using MovesAsBytes = void;

    std::int64_t began = since_ever;
    // Each in the place of its tier, 0 for those without a valid policy.
    List<Judge> judges;
    std::uint32_t count = 0;  // Of those that are not 0.
    bool prorated = false;    // Whether any of them accrues so.
  };
  // By the tier's number; the default, which is that of `no_tier`, comes before them.
  [[nodiscard]] static std::size_t place_of(TierId tier) noexcept { return tier + 1; }
  static constexpr std::int64_t since_ever = std::numeric_limits<std::int64_t>::min();
  static constexpr std::size_t most_revisions = 64;
  // Of those for room that are looked into further; no time can overflow with it.
  static constexpr std::uint64_t longest_wait = std::uint64_t{1} << 60;

  // One of the limits by which a request is judged together, and the client's bucket of it.
  struct Member {
    std::uint32_t definition = 0;
    Fingerprint bucket;
    bool present = false;  // Whether there was a bucket before.
    Outcome::Verdict verdict = Outcome::Verdict::admitted;
    BucketState state;
    std::int64_t remaining = 0;
    std::uint64_t retry = 0;
    std::uint64_t reset = 0;
    std::uint64_t more = 0;
  };

  // What has become of tokens that were put back or charged later.
  struct Adjusted {
    Judgement::Status status = Judgement::Status::admitted;
    std::int64_t earliest = 0;
    std::uint64_t left = 0;  // Of them those that no limit had, or took.
  };

  // A bucket that may have to go, and what forgetting it comes to.
  struct Loss {
    std::uint64_t wait = 0;    // Microseconds until nobody can tell the client from one never seen, or `never`.
    std::uint64_t weight = 0;  // The same, for comparing with others.
    double tokens = 0;         // The most that the client gets back.
  };
  struct Candidate {
    Slot* slot = nullptr;
    std::uint64_t loss = never;
  };

  // A client without a bucket may be one that was forgotten: full at a time that this clock had not come to yet.
  [[nodiscard]] std::int64_t earliest(const Slot* slot) const noexcept {
    return slot != nullptr ? slot->state.touched : swept_at_;
  }
  [[nodiscard]] bool ready() const noexcept { return revision_ != 0 && secret_.has_value(); }
  // The choice of a tier, the client's own looked up.
  [[nodiscard, gnu::always_inline]] TierChoice looked_up(const Fingerprint& client, TierChoice tier) const noexcept {
    if (tier.number != TierChoice::assigned || !is_special_) return tier;
    const std::optional<TierId> own = directory_.assigned(client);
    return own ? TierChoice{static_cast<std::int32_t>(*own)} : tier;
  }
  // What the client's next decision (or refund, or settlement) by its own tier does to balances whose capacity has
  // grown, beside the policies.
  [[nodiscard, gnu::always_inline]] OnRaise raise_of(const Fingerprint& client, TierChoice asked) const noexcept {
    return asked.number == TierChoice::assigned && is_special_ ? directory_.raise(client) : OnRaise::keep;
  }
  [[nodiscard, gnu::always_inline]] Judge judge_of(TierChoice tier) const noexcept {
    return tier.number >= 0 ? directory_[static_cast<TierId>(tier.number)].judge : default_judge_;
  }
  [[nodiscard]] Judge judge_of(const Fingerprint& client, TierChoice tier) const noexcept;
  [[nodiscard]] Judge judge_of(TierId tier) const noexcept {
    return tier == no_tier ? default_judge_ : directory_[tier].judge;
  }
  [[nodiscard]] std::uint32_t size_of(Judge judge) const noexcept {
    return (judge & together) != 0 ? rules_[judge & ~together].size : 1;
  }
  [[nodiscard]] std::uint32_t definition_in(Judge judge, std::uint32_t index) const noexcept {
    return (judge & together) != 0 ? rules_[judge & ~together].definitions[index] : judge;
  }
  [[nodiscard]] std::uint32_t definition_of_kind(Judge judge, std::uint32_t kind) const noexcept;
  [[nodiscard]] Fingerprint client_of(const Slot& slot) const noexcept {
    return slot.client ^ kinds_[definitions_[slot.definition].kind].key;
  }
  // The log of a sliding window that was charged; else null.
  [[nodiscard]] WindowLog* log_of(const Slot& slot) const noexcept {
    const bool logs = definitions_[slot.definition].limit.algorithm == Algorithm::sliding_window;
    return logs ? sliding_window::log_of(slot.state) : nullptr;
  }

  [[nodiscard]] Judgement decide(const Fingerprint& client, TierChoice tier, std::uint64_t cost, std::int64_t now,
                                 bool store) noexcept;
  void decide_alone(Judgement& judgement, const Fingerprint& client, std::uint32_t definition, std::uint64_t cost,
                    std::int64_t now, bool store) noexcept;
  void decide_together(Judgement& judgement, const Fingerprint& client, Judge judge, OnRaise raise, std::uint64_t cost,
                       std::int64_t now, bool store) noexcept;
  [[nodiscard]] Slot* own(Slot* slot, std::uint32_t kind) noexcept;
  [[nodiscard]] std::int64_t find_members(const Fingerprint& client, Judge judge) noexcept;
  [[nodiscard]] std::int64_t earliest(const Slot* slot, const Limit& limit) const noexcept;
  [[nodiscard]] const Limit& limit_of(const Member& member) const noexcept;
  void bring_up(Member& member, std::int64_t now, OnRaise raise) const noexcept;
  [[nodiscard]] bool insert(Member& member) noexcept;
  [[nodiscard]] bool make_members(Judgement& judgement, Member* first, std::uint32_t count, const Fingerprint& client,
                                  std::uint64_t cost, std::int64_t now, bool stores) noexcept;
  [[nodiscard]] bool plan(Judgement& judgement, Member* first, std::uint32_t count, const Fingerprint& client,
                          std::uint64_t cost, std::int64_t now, bool waits) noexcept;
  void let_go(std::int64_t now) noexcept;
  [[nodiscard]] bool make_planned(Member* first, std::uint32_t count, std::int64_t now) noexcept;
  void turn_away(Judgement& judgement, const Member& member, std::uint64_t wait) noexcept;
  void store_member(Member& member, std::uint64_t charge, std::int64_t now) noexcept;
  void measure(Judgement& judgement, std::uint64_t cost, std::int64_t now) noexcept;
  [[nodiscard]] Adjusted adjust(const Fingerprint& client, TierChoice tier, std::int64_t change, std::int64_t now,
                                const Hold* hold, const Hold::Limits* charged) noexcept;
  void move_clients(const Revision& next, const Assignments& documented) noexcept;
  [[nodiscard]] Hold::Limits judged_together(std::uint32_t limits) const noexcept;
  [[nodiscard]] std::int64_t charge_more(Member& member, const Fingerprint& client, std::int64_t tokens,
                                         std::int64_t now) noexcept;
  void put_back_into(Member& member, std::int64_t tokens, std::int64_t now, const Hold* hold) noexcept;
  [[nodiscard]] static std::uint32_t entries_of_larger(const WindowLog* log, const Limit& limit) noexcept;
  [[nodiscard]] bool fits(std::uint64_t bytes) const noexcept;
  [[nodiscard]] bool plan_log(Judgement& judgement, const Member& member, const Fingerprint& client, std::int64_t now,
                              bool enough, bool waits) noexcept;
  [[nodiscard]] bool make_log(const Limit& limit, BucketState& state, std::int64_t now) noexcept;
  void shade(const Judgement& judgement, const Fingerprint& client, TierChoice asked, std::uint64_t cost,
             std::int64_t now) noexcept;
  [[nodiscard]] TierChoice in_shadow(TierChoice tier) const noexcept;
  void foresee(Judgement& judgement, const Fingerprint& client, const Slot* slot, std::uint64_t cost,
               std::int64_t now) const noexcept;
  [[nodiscard]] BucketState state_under(const Slot& slot, std::uint32_t definition,
                                        OnRaise raise = OnRaise::keep) const noexcept;
  [[nodiscard]] std::int64_t moved(std::int64_t balance, const Definition& last, const Definition& present,
                                   OnRaise raise) const noexcept;
  const Definition* replay(BucketState& state, const Definition* last, const Definition& present,
                           OnRaise& raise) const noexcept;

  [[nodiscard]] BucketState seen_under(std::uint32_t definition, const Slot& slot, std::int64_t now) const noexcept;
  [[nodiscard]] Candidate first_to_go(const Fingerprint& client, const Fingerprint& bucket, std::uint32_t sample,
                                      std::int64_t now, bool for_log = false) const noexcept;
  [[nodiscard]] bool turned_away(const Candidate& candidate) const noexcept;
  void table_full(Judgement& judgement, std::uint64_t wait) const noexcept;
  [[nodiscard]] bool goes_when_full() const noexcept { return options_.on_full == LimiterOptions::OnFull::deny; }
  [[nodiscard]] std::uint64_t wait_for(const Candidate& candidate) const noexcept;
  void count_on(const Slot& slot) noexcept;
  void count_on_bytes(std::uint64_t bytes) noexcept;
  void count_on_nobody() noexcept;
  void decided(bool admitted, std::int64_t now) noexcept;
  [[nodiscard]] Slot* room_for_new(Judgement& judgement, const Fingerprint& client, std::int64_t now) noexcept;
  [[nodiscard]] Candidate place_for(const Fingerprint& client, const Fingerprint& bucket, const Limit& limit,
                                    const BucketState& state, std::uint64_t longest, std::int64_t now) const noexcept;
  void make_room(Slot& slot, std::int64_t now) noexcept;
  void forget_log(const Slot& slot) noexcept;
  void forget(Slot& slot) noexcept;
  void forget_full(Slot& slot, std::int64_t now) noexcept;
  void use(Slot& slot, std::uint32_t definition) noexcept;
  [[nodiscard]] std::uint64_t longest_of(Judge judge) const noexcept;
  [[nodiscard]] Loss loss_of(const Slot& slot, std::int64_t now) const noexcept;
  [[nodiscard]] std::uint64_t time_to_full(const Slot& slot, std::int64_t now) const noexcept;
  void sweep(std::int64_t now) noexcept;
  void count_log(const WindowLog* before, const WindowLog* after) noexcept;

  void transfer(codec::Archive& archive, std::int64_t now);
  void transfer_definitions(codec::Archive& archive, List<std::uint32_t>& numbers);
  void transfer_tier(codec::Archive& archive, TierId& tier);
  static void transfer_number(codec::Archive& archive, const List<std::uint32_t>& numbers, std::uint32_t& definition);
  void transfer_revisions(codec::Archive& archive, const List<std::uint32_t>& numbers, std::int64_t now);
  void transfer_judges(codec::Archive& archive, const List<std::uint32_t>& numbers, Revision& revision);
  void transfer_table(codec::Archive& archive, BucketTable& table, const List<std::uint32_t>& numbers,
                      std::int64_t now);
  void transfer_assignment(codec::Archive& archive, const Slot& slot);
  void transfer_raise(codec::Archive& archive, const Slot& slot);
  void transfer_bucket(codec::Archive& archive, const List<std::uint32_t>& numbers, Slot& slot, std::int64_t now);
  void transfer_log(codec::Archive& archive, Slot& slot, std::int64_t now);
  [[nodiscard]] WindowLog* make_log(std::uint32_t entries, codec::Archive& archive) noexcept;

  [[nodiscard]] TierId acquire_tier(std::string_view name);
  [[nodiscard]] std::uint32_t acquire_kind(std::string_view name, Algorithm algorithm);
  [[nodiscard]] Fingerprint key_of(const Kind& kind) const noexcept;
  [[nodiscard]] std::uint32_t define(TierId tier, Judge present, const NamedLimit& named);
  [[nodiscard]] Judge judge(TierId tier, Judge present, const Policy& policy);
  [[nodiscard]] std::size_t room_to_install(const PolicySet& policies, std::size_t limits,
                                            std::size_t text) const noexcept;
  void install(PolicySet& policies, std::int64_t began, bool prorated);
  void enter() noexcept;
  void look_for_special() noexcept { is_special_ = directory_.assigns() || shadow_ != nullptr; }
  [[nodiscard]] Judge make_judge(const Rule& rule, Judge present);
  void release(std::uint32_t definition) noexcept;
  void release_judge(Judge judge) noexcept;
  void release(const Revision& revision) noexcept;
  [[nodiscard]] std::optional<ErrorCode> change_tier(const Fingerprint& client, Judge old_judge, Judge new_judge,
                                                     OnRaise on_raise, std::optional<std::int64_t> now);
  [[nodiscard]] bool look_back(const Fingerprint& client, Judge old_judge, Judge new_judge, OnRaise raise,
                               std::optional<std::int64_t> now, bool stores) noexcept;
  [[nodiscard]] bool has_bucket(const Fingerprint& client) const noexcept;
  [[nodiscard]] static Judge judge_in(const Revision& revision, TierId tier) noexcept;
  [[nodiscard]] const Definition* in_revision(const Revision& revision, TierId tier, std::uint32_t kind) const noexcept;

  LimiterOptions options_;
  std::optional<Secret> secret_;
  Text document_;  // The text of what is in force.
  List<Error> rejected_;
  List<Error> warnings_;

  List<Kind> kinds_;
  List<Definition> definitions_;  // [0] is nobody's: slots use 0 for empty
  List<Rule> rules_;              // [0] is none
  List<TierId> document_tiers_;
  List<Revision> revisions_;  // The last is in force; others only while their times may count.

  TierDirectory directory_;
  BucketTable table_;
  std::uint64_t log_bytes_ = 0;
  BucketTable::Hand sweep_at_;
  std::int64_t round_began_ = 0;                     // When the sweep last came by the first slot,
  std::int64_t last_round_began_ = 0;                // and when the time before.
  std::int64_t swept_at_ = -max_micros;              // The latest time at which a bucket was forgotten as full.
  std::array<Member, Policy::most_limits> members_;  // Of the last judgement by several limits.
  // Buckets that members count on to go, which cannot go for others too: one for the place of each, and many for a log.
  std::array<Fingerprint, Policy::most_limits + 64> counted_on_;
  std::uint64_t counted_on_bytes_ = 0;  // What logs will take more by that, modulo 2^64.
  LimiterStats stats_;

  std::unique_ptr<TierLimiter> shadow_;
  List<TierId> shadow_tiers_;  // The names that the candidate has, kept for as long as it is there.
  List<ShadowCount> shadow_counts_;

  std::uint32_t revision_ = 0;
  std::uint32_t unused_definition_ = 0;  // The first one; 0: all are used.
  std::uint32_t unused_rule_ = 0;        // The first one, whose size is the next; 0: all are used.
  Judge default_judge_ = 0;
  Judge members_judge_ = 0;         // What the members are of,
  std::uint32_t member_count_ = 0;  // and how many there are.
  std::uint32_t counted_on_count_ = 0;
  std::uint32_t sweep_due_ = 0;  // Work for the sweep, done when there is enough.
  std::uint32_t shadow_number_ = 0;
  // Whether a client may have a tier of its own or wait for a raise, or there is a candidate: what a plain decision
  // need not look at.
  bool is_special_ = false;
  bool keeps_logs_ = false;          // Whether the document in force has a sliding window.
  bool is_shadow_ = false;           // This is another's candidate.
  bool counts_on_more_ = false;      // Whether members need more to go than could be counted on.
  bool shadow_allows_ = false;       // What the last request was judged by it.
  std::uint32_t shadow_limits_ = 0;  // So many judged it there together; 0: the one of a plain policy.
};

}  // namespace tierlimit
