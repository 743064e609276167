// SPDX-License-Identifier: MIT
// What of the limiter is seldom called: setting up, loading policies, and putting decisions into words.
#include <algorithm>
#include <string>
#include <utility>

#include "memory.hpp"
#include "policy_reader.hpp"
#include "tierlimit/limiter.hpp"
#include "tierlimit/micros.hpp"
#include "wide.hpp"

namespace tierlimit {
namespace {

constexpr std::string_view main_limit = "main";

// What there is to know of all limits of a document.
struct Census {
  std::size_t limits = 0;
  bool prorated = false;  // Whether any accrues in parts.

  explicit Census(const PolicySet& policies) noexcept {
    count(policies.default_policy);
    for (const Tier& tier : policies.tiers) count(tier.policy);
  }

 private:
  void count(const Policy& policy) noexcept {
    limits += policy.limits.size();
    for (const NamedLimit& named : policy.limits) prorated |= named.limit.accrual == Accrual::prorated;
  }
};

Error failure(ErrorCode code, std::string_view message) {
  Error error;
  error.code = code;
  error.message = message;
  return error;
}

Error explain(Judgement::Status status, std::int64_t earliest, std::uint64_t cost, std::int64_t now) {
  switch (status) {
    case Judgement::Status::clock:
      return failure(ErrorCode::clock,
                     "the clock reads " + std::to_string(now) +
                         " microseconds, earlier than the client's last decision (or, without a bucket, than full "
                         "buckets were forgotten) at " +
                         std::to_string(earliest));
    case Judgement::Status::invalid_cost:
      return failure(ErrorCode::invalid_cost,
                     "the cost is " + std::to_string(cost) + "; it must be a whole number from 1 to 9007199254740991");
    case Judgement::Status::not_seeded:
      return failure(ErrorCode::not_seeded, "the limiter has no secret yet: seed it before the first decision");
    default: return failure(ErrorCode::no_policies, "no policy document is in force");
  }
}

Error out_of_range(std::int64_t now) {
  return failure(ErrorCode::invalid_time,
                 "the clock reads " + std::to_string(now) + " microseconds; it must be within 2^53 of zero");
}

// Why a change of policies or of a tier, whose time counts, cannot be at that time.
ErrorCode untimely(std::optional<std::int64_t> now) noexcept {
  return now ? ErrorCode::clock : ErrorCode::invalid_time;
}

bool failed(const Judgement& judgement) noexcept {
  return judgement.status != Judgement::Status::admitted && judgement.status != Judgement::Status::denied;
}

bool in_range(std::int64_t now) noexcept { return now >= -max_micros && now <= max_micros; }

// A request answered in words; `ask` judges it by the tier that its name stands for.
template <class Ask>
Result<Decision> answer(const TierLimiter& limiter, const Request& request, std::int64_t now, Ask ask) {
  if (!in_range(now)) return out_of_range(now);
  const Judgement judgement = ask(request.tier ? limiter.tier(*request.tier) : TierChoice{});
  if (failed(judgement)) return explain(judgement.status, judgement.state.touched, request.cost, now);
  Decision decision = limiter.describe(judgement, request.cost);
  if (request.tier) decision.tier = request.tier;
  for (std::uint32_t i = 0; i < TierLimiter::limits_of(judgement); ++i) {
    decision.limits.push_back(limiter.describe_limit(judgement, request.cost, i));
  }
  return decision;
}

}  // namespace

TierLimiter::TierLimiter(const LimiterOptions& options)

    : options_(options), kinds_(1), definitions_(1), rules_(1), table_(options.max_clients, options.max_bytes) {
  kinds_[0].name = main_limit;
  kinds_[0].users = 1;
}

TierLimiter::~TierLimiter() {
  table_.each([this](const Slot& slot) { WindowLog::free(log_of(slot)); });
}

bool TierLimiter::seed(const Secret& secret) {
  if (secret_) return true;
  if (!memory_available(directory_.room_to_seed())) return false;
  secret_ = secret;
  directory_.seed(secret);
  for (Kind& kind : kinds_) kind.key = key_of(kind);
  look_for_special();
  return true;
}

LimiterStats TierLimiter::stats() const {
  LimiterStats stats = stats_;
  stats.buckets = table_.size();
  stats.bytes = table_.bytes() + log_bytes_;
  stats.assignments = directory_.assignments();
  return stats;
}

// ---- Decisions in words --------------------------------------------------------------------------------------------

Result<Decision> TierLimiter::check(const Request& request, std::int64_t now) {
  return answer(*this, request, now, [&](TierChoice tier) { return judge(request.client, tier, request.cost, now); });
}

Result<Decision> TierLimiter::peek(const Request& request, std::int64_t now) {
  return answer(*this, request, now, [&](TierChoice tier) { return preview(request.client, tier, request.cost, now); });
}

Result<Reservation> TierLimiter::reserve(const Request& request, std::int64_t now) {
  Reservation reservation;
  reservation.client = request.client;
  reservation.tier = request.tier;
  Result<Decision> decision = answer(*this, request, now, [&](TierChoice tier) {
    const Judgement judgement = judge(request.client, tier, request.cost, now);
    reservation.hold = hold(judgement, request.cost, now);
    return judgement;
  });
  if (!decision) return decision.error();
  reservation.decision = std::move(decision.value());
  return reservation;
}

Result<Settlement> TierLimiter::settle(const Reservation& reservation, std::uint64_t actual, std::int64_t now) {
  if (actual > max_cost) return failure(ErrorCode::invalid_cost, "the cost must be a whole number from 0 to 2^53-1");
  const auto change = static_cast<std::int64_t>(reservation.hold.cost) - static_cast<std::int64_t>(actual);
  Settlement settlement;
  if (!reservation.decision.allowed || change == 0) return settlement;
  if (!in_range(now)) return out_of_range(now);
  const Adjusted adjusted = adjust(fingerprint_of(reservation.client), choice(reservation.tier), change, now,
                                   &reservation.hold, &reservation.hold.limits);
  if (adjusted.status != Judgement::Status::admitted)
    return explain(adjusted.status, adjusted.earliest, reservation.hold.cost, now);
  if (change < 0)
    settlement.debt = adjusted.left;
  else
    settlement.returned = static_cast<std::uint64_t>(change) - adjusted.left;
  return settlement;
}

Result<bool> TierLimiter::refund(const Request& request, std::int64_t now) {
  if (!in_range(now)) return out_of_range(now);
  Adjusted adjusted;
  if (request.cost == 0 || request.cost > max_cost) {
    adjusted.status = Judgement::Status::invalid_cost;
  } else {
    adjusted = adjust(fingerprint_of(request.client), choice(request.tier), static_cast<std::int64_t>(request.cost),
                      now, nullptr, nullptr);
  }
  if (adjusted.status != Judgement::Status::admitted)
    return explain(adjusted.status, adjusted.earliest, request.cost, now);
  return true;
}

TierChoice TierLimiter::tier(std::string_view name) const {
  const std::optional<TierId> id = directory_.find(name);
  // A name that only assignments use is as unknown as one that nobody uses; unless the candidate knows it.
  const bool known = id && (directory_[*id].fallback != Fallback::unknown_tier ||
                            (shadow_ != nullptr && shadow_->tier(name).number != TierChoice::unknown));
  if (!known) return {TierChoice::unknown};
  return {static_cast<std::int32_t>(*id)};
}

Decision TierLimiter::describe(const Judgement& judgement, std::uint64_t cost) const {
  const LimitDecision binding = describe_limit(judgement, cost, judgement.binding);
  Decision decision;
  decision.allowed = judgement.status == Judgement::Status::admitted;
  decision.limit = binding.limit;
  decision.remaining = binding.remaining;
  decision.retry = binding.retry;
  decision.reset = binding.reset;
  decision.window = binding.window;
  decision.limit_name = binding.name;
  decision.reason = judgement.reason;
  decision.fallback = judgement.fallback;
  if (judgement.has_tier) decision.tier = tier_name(judgement.tier);
  return decision;
}

LimitDecision TierLimiter::describe_limit(const Judgement& judgement, std::uint64_t cost, std::uint32_t index) const {
  const auto known = [](std::uint64_t wait) { return wait == never ? std::nullopt : std::optional{wait}; };
  const Limit& limit = judgement.limits != 0 ? limit_of(members_[index]) : *judgement.limit;
  LimitDecision decision;
  decision.limit = limit.capacity;
  decision.window = known(limit.fill);
  if (judgement.limits != 0) {
    const Member& member = members_[index];
    decision.name = kinds_[definitions_[member.definition].kind].name;
    decision.remaining = member.remaining;
    decision.retry = known(member.retry);
    decision.reset = known(member.reset);
    decision.more = known(member.more);
    return decision;
  }
  decision.name = main_limit;
  decision.remaining = judgement.state.balance / limit.unit;
  decision.reset = known(time_until(limit, judgement.state.balance, limit.full));
  // What a plain policy has is a token bucket.
  decision.more = known(time_until(limit, judgement.state.balance - decision.remaining * limit.unit, limit.unit));
  switch (judgement.reason) {
    case Reason::ok: decision.retry = 0; break;
    case Reason::exhausted:
      // The price is at most `full`: a cost above the capacity has a reason of its own.
      decision.retry = known(time_until(limit, judgement.state.balance, static_cast<std::int64_t>(cost) * limit.unit));
      break;
    case Reason::table_full: decision.retry = known(judgement.wait); break;
    case Reason::cost_exceeds_capacity:
    case Reason::never_refills: break;
  }
  return decision;
}

// ---- Tiers of clients ----------------------------------------------------------------------------------------------

Error TierLimiter::explain_change(ErrorCode code) {
  switch (code) {
    case ErrorCode::clock: return failure(code, "nowMs must not be earlier than at the last change");
    case ErrorCode::invalid_time:
      return failure(code, "a change needs its time where the accrual of a limit is prorated");
    default: return failure(code, "memory for one more assignment cannot be had");
  }
}

std::optional<ErrorCode> TierLimiter::assign(std::string_view client, std::optional<std::string_view> tier,
                                             OnRaise on_raise, std::optional<std::int64_t> now) {
  const std::size_t text = client.size() + (tier ? tier->size() : 0);
  if (!memory_available(directory_.room_to_add(1, 1) + 2 * text)) return ErrorCode::out_of_memory;
  std::optional<TierId> id;
  if (tier) id = acquire_tier(*tier);
  if (ready()) {
    const Fingerprint fingerprint = fingerprint_of(client);
    const std::optional<TierId> before = directory_.own(fingerprint);
    const std::optional<TierId> after = id ? id : directory_.in_document(fingerprint);
    if (before != after) {
      const std::optional<ErrorCode> error = change_tier(fingerprint, judge_of(before.value_or(no_tier)),
                                                         judge_of(after.value_or(no_tier)), on_raise, now);
      if (error) {
        if (id) directory_.release(*id);
        return error;
      }
    }
  }
  directory_.assign(client, id);
  look_for_special();
  if (shadow_ != nullptr) static_cast<void>(shadow_->assign(client, tier, on_raise, now));
  return std::nullopt;
}

// What a change of its tier by `set_tier` means for a client's buckets.
std::optional<ErrorCode> TierLimiter::change_tier(const Fingerprint& client, Judge old_judge, Judge new_judge,
                                                  OnRaise on_raise, std::optional<std::int64_t> now) {
  const OnRaise raise = directory_.raise(client);
  // First whether the time is right for all of them. What a candidate is told has happened; its own may be later.
  if (look_back(client, old_judge, new_judge, raise, now, false) && !is_shadow_) return untimely(now);
  // Who has no bucket has nothing to be raised, nor has who is judged by the same as before.
  const bool raises = old_judge != new_judge && has_bucket(client);
  if (!directory_.set_raise(client, raises ? on_raise : OnRaise::keep)) return ErrorCode::out_of_memory;
  static_cast<void>(look_back(client, old_judge, new_judge, raise, now, true));
  return std::nullopt;
}

// Looks at those of a client's buckets whose new limits are prorated, for the last time by the old ones: time until now
// has accrued by those. Returns whether there are any for which that can be; or only whether any for which it cannot.
bool TierLimiter::look_back(const Fingerprint& client, Judge old_judge, Judge new_judge, OnRaise raise,
                            std::optional<std::int64_t> now, bool stores) noexcept {
  bool found = false;
  static_cast<void>(find_members(client, new_judge));
  for (std::uint32_t i = 0; i < member_count_; ++i) {
    Member& member = members_[i];
    if (!member.present || limit_of(member).accrual != Accrual::prorated) continue;
    const Definition& present = definitions_[member.definition];
    member.definition = definition_of_kind(old_judge, present.kind);
    if (member.definition == 0 || definitions_[member.definition].tier == present.tier) continue;
    const bool timely = now && *now >= earliest(table_.seek(member.bucket), limit_of(member));
    found |= timely == stores;
    if (!timely || !stores) continue;
    bring_up(member, *now, raise);
    store_member(member, 0, *now);
  }
  return found;
}

bool TierLimiter::has_bucket(const Fingerprint& client) const noexcept {
  for (const Kind& kind : kinds_) {
    if (kind.users != 0 && table_.seek(client ^ kind.key) != nullptr) return true;
  }
  return false;
}

// ---- Policies ------------------------------------------------------------------------------------------------------

bool TierLimiter::load(std::string_view json, std::optional<std::int64_t> now, List<Error>& errors) {
  PolicySet policies;
  if (!read_policies(json, options_.strict, policies, errors)) return false;
  const Census census(policies);
  // The first document is in force since ever.
  const bool timed = !revisions_.empty() && (revisions_.back().prorated || census.prorated);
  if (timed) {
    if (!now || *now < revisions_.back().began) {
      errors.push_back(explain_change(untimely(now)));
      return false;
    }
  }
  if (!memory_available(room_to_install(policies, census.limits, json.size()))) {
    add_document_too_large(errors);
    return false;
  }
  install(policies, timed ? *now : since_ever, census.prorated);
  document_ = json;
  look_for_special();
  revision_ += revision_ < last_revision;
  return true;
}

// Counts one more user of a tier's name; a name that is new is that of a tier which is not there.
TierId TierLimiter::acquire_tier(std::string_view name) {
  const TierId tier = directory_.acquire(name);
  TierEntry& entry = directory_[tier];
  if (entry.fallback == Fallback::unknown_tier) entry.judge = default_judge_;
  return tier;
}

bool TierLimiter::remembers(std::string_view client, std::string_view limit, Algorithm algorithm) const noexcept {
  for (const Kind& kind : kinds_) {
    if (kind.users == 0 || kind.algorithm != algorithm || !(kind.name == limit)) continue;
    return table_.seek(fingerprint_of(client) ^ kind.key) != nullptr;
  }
  return false;
}

// The number of what buckets of that name and algorithm have in common, counted once more.
std::uint32_t TierLimiter::acquire_kind(std::string_view name, Algorithm algorithm) {
  std::uint32_t unused = 0;
  for (std::uint32_t i = 0; i < kinds_.size(); ++i) {
    if (kinds_[i].users == 0) {
      unused = i;
    } else if (kinds_[i].algorithm == algorithm && kinds_[i].name == name) {
      ++kinds_[i].users;
      return i;
    }
  }
  if (unused == 0) {
    unused = static_cast<std::uint32_t>(kinds_.size());
    kinds_.emplace_back();
  }
  Kind& kind = kinds_[unused];
  kind.name = name;
  kind.algorithm = algorithm;
  kind.users = 1;
  kind.key = key_of(kind);
  return unused;
}

// By another secret than clients are known by: nobody can be named so that his buckets fall together with others'.
Fingerprint TierLimiter::key_of(const Kind& kind) const noexcept {
  if (!secret_ || &kind == kinds_.data()) return {};
  const auto algorithm = static_cast<std::uint64_t>(kind.algorithm);
  return Fingerprint::of({~(*secret_)[0], (*secret_)[1] + algorithm}, kind.name);
}

// The number of a limit that judges a tier from now on: that of the present one if it is equal, so that reloading a
// document moves nothing.
std::uint32_t TierLimiter::define(TierId tier, Judge present, const NamedLimit& named) {
  const std::uint32_t kind = acquire_kind(named.name, named.limit.algorithm);
  std::uint32_t definition = present == 0 ? 0 : definition_of_kind(present, kind);
  // A tier without limits of its own is judged by the default's, which are not to be taken for its own.
  if (definition != 0 && definitions_[definition].tier == tier && definitions_[definition].limit == named.limit) {
    --kinds_[kind].users;
  } else {
    definition = unused_definition_;
    if (definition != 0) {
      unused_definition_ = definitions_[definition].tier;
    } else {
      definition = static_cast<std::uint32_t>(definitions_.size());
      definitions_.emplace_back();
    }
    definitions_[definition] = {named.limit, tier, kind, 0};
    if (tier != no_tier) ++directory_[tier].users;
  }
  ++definitions_[definition].users;
  return definition;
}

// What judges a tier from now on.
TierLimiter::Judge TierLimiter::judge(TierId tier, Judge present, const Policy& policy) {
  Rule rule;
  for (const NamedLimit& named : policy.limits) rule.definitions[rule.size++] = define(tier, present, named);
  return make_judge(rule, present);
}

// The same of definitions that have been counted for it; the present one if that is it.
TierLimiter::Judge TierLimiter::make_judge(const Rule& rule, Judge present) {
  const Definition& first = definitions_[rule.definitions[0]];
  if (rule.size == 1 && first.kind == 0 && first.limit.accrual == Accrual::at_next) return rule.definitions[0];
  if ((present & together) != 0) {
    Rule& old = rules_[present & ~together];
    if (old.definitions == rule.definitions) {
      for (std::uint32_t i = 0; i < rule.size; ++i) release(rule.definitions[i]);
      ++old.users;
      return present;
    }
  }
  std::uint32_t number = unused_rule_;
  if (number != 0) {
    unused_rule_ = rules_[number].size;
  } else {
    number = static_cast<std::uint32_t>(rules_.size());
    rules_.emplace_back();
  }
  rules_[number] = rule;
  rules_[number].users = 1;
  return number | together;
}

void TierLimiter::release_judge(Judge judge) noexcept {
  if ((judge & together) == 0) {
    release(judge);
    return;
  }
  Rule& rule = rules_[judge & ~together];
  if (--rule.users != 0) return;
  while (rule.size > 0) release(rule.definitions[--rule.size]);
  rule.size = std::exchange(unused_rule_, judge & ~together);
}

// From the last name on: the directory is sorted too, and what is behind a name that goes has to move.
void TierLimiter::release(const Revision& revision) noexcept {
  for (std::size_t i = revision.judges.size(); i > 0; --i) {
    if (revision.judges[i - 1] != 0) release_judge(revision.judges[i - 1]);
  }
}

// More bytes than it takes to put the policies in force while the last ones are there too.
std::size_t TierLimiter::room_to_install(const PolicySet& policies, std::size_t limits,
                                         std::size_t text) const noexcept {
  const std::size_t tiers = policies.tiers.size();
  const std::size_t clients = policies.clients.size();
  constexpr std::size_t bytes_per_limit = 4 * (sizeof(Definition) + sizeof(Kind) + sizeof(std::uint32_t));
  constexpr std::size_t bytes_per_tier = 4 * (sizeof(Rule) + sizeof(TierId) + 4 * sizeof(Judge));
  constexpr std::size_t allocation_overhead = 32;
  // The text is kept, and names out of it are kept once more.
  return directory_.room_to_add(tiers + clients, 0) + clients * bytes_per_assignment +
         (definitions_.size() + limits) * bytes_per_limit + (rules_.size() + tiers + 1) * bytes_per_tier +
         2 * sizeof(Revision) * most_revisions + 2 * text + (tiers + 2 * clients) * allocation_overhead;
}

void TierLimiter::install(PolicySet& policies, std::int64_t began, bool prorated) {
  // What the document holds from now on. What the last one held goes at the end, so that nothing that stays is without
  // a user in between.
  Revision revision;
  revision.began = began;
  revision.prorated = prorated;
  List<TierId> tiers;

  revision.judges.push_back(judge(no_tier, default_judge_, policies.default_policy));
  revision.count = 1;
  for (const Tier& tier : policies.tiers) {
    const TierId id = directory_.acquire(tier.name);
    tiers.push_back(id);
    if (!tier.policy.valid()) continue;
    if (revision.judges.size() <= place_of(id)) revision.judges.resize(place_of(id) + 1);
    revision.judges[place_of(id)] = judge(id, directory_[id].judge, tier.policy);
    ++revision.count;
  }
  Assignments clients;
  if (secret_) clients.seed(*secret_, [](TierId) {});
  for (const ClientTier& assignment : policies.clients) {
    clients.set(assignment.client, acquire_tier(assignment.tier));
  }
  if (secret_ && prorated && !revisions_.empty()) move_clients(revision, clients);
  tiers.swap(document_tiers_);
  revisions_.push_back(std::move(revision));
  enter();
  directory_.replace_document(clients);

  for (std::size_t i = tiers.size(); i > 0; --i) directory_.release(tiers[i - 1]);
  // Of documents before the last one only the times count, and those only where there are any.
  const std::size_t kept = began == since_ever ? 1 : most_revisions;
  while (revisions_.size() > kept) {
    release(revisions_.front());
    revisions_.erase(0);
  }
  rejected_ = std::move(policies.rejected);
  warnings_ = std::move(policies.warnings);
}

// What a document means for the buckets of clients that it moves to another tier, or whose tier it takes away, before
// it is in force: the same as `set_tier`.
void TierLimiter::move_clients(const Revision& next, const Assignments& documented) noexcept {
  const auto look = [&](const Slot& place) {
    const Fingerprint client = place.client;
    const TierId old_tier = directory_.own(client).value_or(no_tier);
    const TierId tier = directory_.overridden(client) ? old_tier : documented.find(client).value_or(no_tier);
    const OnRaise raise = directory_.raise(client);
    if (look_back(client, judge_of(old_tier), judge_in(next, tier), raise, next.began, true)) {
      // What `set_tier` asked for was for the move that it made.
      static_cast<void>(directory_.set_raise(client, OnRaise::keep));
    }
  };
  directory_.each_client(look);
  documented.each_client(look);
}

// Puts the last revision in force: what each tier's name means from now on.
void TierLimiter::enter() noexcept {
  const Revision& revision = revisions_.back();
  default_judge_ = revision.judges.front();
  directory_.each([this](TierEntry& entry) {
    entry.judge = default_judge_;
    entry.fallback = Fallback::unknown_tier;
  });
  for (const TierId tier : document_tiers_) directory_[tier].fallback = Fallback::invalid_tier_policy;
  keeps_logs_ = false;
  for (std::size_t i = 0; i < revision.judges.size(); ++i) {
    const Judge judge = revision.judges[i];
    if (judge == 0) continue;
    for (std::uint32_t k = size_of(judge); k > 0; --k) {
      keeps_logs_ |= definitions_[definition_in(judge, k - 1)].limit.algorithm == Algorithm::sliding_window;
    }
    if (i == 0) continue;
    TierEntry& entry = directory_[static_cast<TierId>(i - 1)];
    entry.fallback = Fallback::none;
    entry.judge = judge;
  }
  count_log(nullptr, nullptr);
}

// ---- Accrual in parts ----------------------------------------------------------------------------------------------

// What judged a tier's clients in a document.
TierLimiter::Judge TierLimiter::judge_in(const Revision& revision, TierId tier) noexcept {
  const std::size_t place = place_of(tier);
  const Judge own = place < revision.judges.size() ? revision.judges[place] : 0;
  return own != 0 ? own : revision.judges.front();
}

// Their limit of a kind; null: there was none.
const TierLimiter::Definition* TierLimiter::in_revision(const Revision& revision, TierId tier,
                                                        std::uint32_t kind) const noexcept {
  const std::uint32_t definition = definition_of_kind(judge_in(revision, tier), kind);
  return definition == 0 ? nullptr : &definitions_[definition];
}

// Brings a bucket through the documents that were in force since it was last touched, as if it had been looked at
// whenever one came into force, by the tier that judges now. Returns what judged it last in that.
const TierLimiter::Definition* TierLimiter::replay(BucketState& state, const Definition* last,
                                                   const Definition& present, OnRaise& raise) const noexcept {
  const auto meet = [&](const Definition& next) {
    state.balance = moved(state.balance, *last, next, raise);
    if (&next != last) raise = OnRaise::keep;
    last = &next;
  };
  const std::size_t newest = revisions_.size() - 1;
  std::size_t at = 0;
  while (at < newest && revisions_[at + 1].began <= state.touched) ++at;
  // Of documents that came at the very time of the touch, the bucket's own limit tells which it has met: none, where it
  // is older than all of them. If it is of the same tier, for the default stands in for many.
  if (last->tier == present.tier) {
    while (at > 0 && revisions_[at].began == state.touched &&
           in_revision(revisions_[at], present.tier, present.kind) != last) {
      --at;
    }
  }
  // Before the oldest document whose time is known the lower of two rates counts.
  if (state.touched < revisions_[0].began) {
    const Definition* const oldest = in_revision(revisions_[0], present.tier, present.kind);
    if (oldest != nullptr) {
      const Limit& a = last->limit;
      const Limit& b = oldest->limit;
      const bool falls = Wide{static_cast<std::uint64_t>(a.gain)} * static_cast<std::uint64_t>(b.unit) >
                         Wide{static_cast<std::uint64_t>(b.gain)} * static_cast<std::uint64_t>(a.unit);
      if (falls) meet(*oldest);
      state.balance = accrued(last->limit, state, revisions_[0].began);
      meet(*oldest);
    }
    state.touched = revisions_[0].began;
  }
  for (; at < newest; ++at) {
    const Definition* const meanwhile = in_revision(revisions_[at], present.tier, present.kind);
    const std::int64_t until = revisions_[at + 1].began;
    if (meanwhile != nullptr) {
      meet(*meanwhile);
      state.balance = accrued(last->limit, state, until);
    }
    state.touched = until;
  }
  return last;
}

}  // namespace tierlimit
