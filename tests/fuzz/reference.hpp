// SPDX-License-Identifier: MIT
/// \file
/// A limiter once more, as simple as can be: what the real one is compared with, operation by operation.
///
/// It knows the essentials, of all three algorithms: several limits together, raises, refunds, reservations. What it
/// leaves out (prorated accrual, shadow policies, the bounds of memory) the model in tests/model/ has, which is
/// JavaScript and is compared by `npm test -- differential`; this one is fast enough to be asked by a fuzzer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "documents.hpp"
#include "tierlimit/decision.hpp"

namespace reference {

__extension__ using Wide = __int128;
using documents::Algorithm;
using documents::OnRaise;
using tierlimit::Fallback;
using tierlimit::Reason;

/// A limit in whole numbers: `unit` credits are a token.
struct Limit {
  documents::Limit text;
  std::string tier;  ///< Whose it is; empty: the default's.
  Wide unit = 1;
  Wide gain = 0;
  Wide full = 0;
  Wide whole = 0;
  double capacity = 0;
};

struct Bucket {
  Limit last;
  Wide balance = 0;        ///< Of a token bucket.
  std::int64_t count = 0;  ///< Of a fixed window.
  std::vector<std::pair<std::int64_t, std::int64_t>> log;
  std::int64_t touched = 0;
};

/// What one limit says; nullopt: never.
struct Part {
  std::string name;
  double limit = 0;
  std::int64_t remaining = 0;
  std::optional<std::uint64_t> retry;
  std::optional<std::uint64_t> reset;
  std::optional<std::uint64_t> window;
  std::optional<std::uint64_t> more;
  Reason reason = Reason::ok;
};

struct Answer {
  bool allowed = false;
  std::optional<std::string> tier;
  Fallback fallback = Fallback::none;
  std::size_t binding = 0;
  std::vector<Part> parts;
};

using Key = std::tuple<std::string, std::string, Algorithm>;

struct Hold {
  std::string client;
  std::optional<std::string> tier;
  std::int64_t cost = 0;
  std::int64_t at = 0;
  std::vector<Key> keys;
};

class Limiter {
 public:
  void set_policies(const documents::Document& document) { document_ = document; }

  void set_tier(const std::string& client, const std::optional<std::string>& tier, OnRaise on_raise) {
    const std::optional<std::string> before = own(client);
    if (tier) {
      assigned_[client] = *tier;
    } else {
      assigned_.erase(client);
    }
    if (own(client) == before) return;
    const bool has_any = buckets_.lower_bound({client, "", Algorithm{}}) != buckets_.end() &&
                         std::get<0>(buckets_.lower_bound({client, "", Algorithm{}})->first) == client;
    // Tiers that are not there are all the default.
    const bool stays = fallback_of(before) != Fallback::none && fallback_of(own(client)) != Fallback::none;
    raises_[client] = has_any && !stays ? on_raise : OnRaise::keep;
  }

  /// nullopt: the time is earlier than a bucket's last touch.
  std::optional<Answer> check(const std::string& client, std::int64_t cost, const std::optional<std::string>& tier,
                              std::int64_t now, bool store) {
    const std::vector<Limit> limits = limits_of(client, tier);
    if (too_early(client, limits, now)) return std::nullopt;
    const OnRaise raise = raise_of(client, tier);
    Answer answer;
    answer.tier = tier ? tier : own(client);
    answer.fallback = fallback_of(answer.tier);
    answer.allowed = true;
    std::vector<Bucket> buckets;
    for (const Limit& limit : limits) {
      buckets.push_back(at(client, limit, now, raise));
      answer.parts.push_back(judge(limit, buckets.back(), cost, now));
      answer.allowed = answer.allowed && answer.parts.back().reason == Reason::ok;
    }
    if (store && raise != OnRaise::keep) raises_.erase(client);
    for (std::size_t i = 0; i < limits.size(); ++i) {
      if (answer.allowed && store) charge(limits[i], buckets[i], cost, now);
      if (store) buckets_[key(client, limits[i])] = buckets[i];
      answer.parts[i].remaining = remaining(limits[i], buckets[i]);
      answer.parts[i].reset = until(limits[i], buckets[i], whole_or_full(limits[i]), now);
      answer.parts[i].more = more(limits[i], buckets[i], now);
      if (binds(answer, i)) answer.binding = i;
    }
    return answer;
  }

  /// False: too early. With a hold, only into what it was taken from, and a sliding window's own entry first.
  bool refund(const std::string& client, std::int64_t tokens, const std::optional<std::string>& tier, std::int64_t now,
              const Hold* hold) {
    const std::vector<Limit> limits = limits_of(client, tier);
    if (too_early(client, limits, now)) return false;
    const OnRaise raise = raise_of(client, tier);
    if (raise != OnRaise::keep) raises_.erase(client);
    for (const Limit& limit : limits) {
      if (buckets_.count(key(client, limit)) == 0) continue;
      Bucket bucket = at(client, limit, now, raise);
      if (!held(hold, client, limit) || has_left(hold, limit, bucket, now)) {
        if (raise != OnRaise::keep || held(hold, client, limit)) buckets_[key(client, limit)] = bucket;
        continue;
      }
      bucket.balance = std::min(limit.full, bucket.balance + tokens * limit.unit);
      bucket.count = std::max(std::int64_t{0}, bucket.count - tokens);
      if (limit.text.algorithm == Algorithm::fixed_window && bucket.count == 0) bucket.touched = now;
      std::int64_t left = tokens;
      for (const bool own_entry : {true, false}) {
        for (auto& [time, count] : bucket.log) {
          if (own_entry && (hold == nullptr || time != hold->at)) continue;
          const std::int64_t taken = std::min(left, count);
          count -= taken;
          left -= taken;
        }
      }
      buckets_[key(client, limit)] = bucket;
    }
    return true;
  }

  /// Charges more of what a hold took from; nullopt: too early, else the debt.
  std::optional<std::int64_t> charge_more(const Hold& hold, std::int64_t tokens, std::int64_t now) {
    const std::vector<Limit> limits = limits_of(hold.client, hold.tier);
    if (too_early(hold.client, limits, now)) return std::nullopt;
    std::int64_t debt = 0;
    const OnRaise raise = raise_of(hold.client, hold.tier);
    if (raise != OnRaise::keep) raises_.erase(hold.client);
    for (const Limit& limit : limits) {
      Bucket bucket = at(hold.client, limit, now, raise);
      if (!held(&hold, hold.client, limit)) {
        const Key place = key(hold.client, limit);
        if (raise != OnRaise::keep && buckets_.count(place) != 0) buckets_[place] = bucket;
        continue;
      }
      const std::int64_t taken = std::min(tokens, remaining(limit, bucket));
      if (taken > 0) charge(limit, bucket, taken, now);
      buckets_[key(hold.client, limit)] = bucket;
      debt = std::max(debt, tokens - taken);
    }
    return debt;
  }

  Hold hold(const std::string& client, std::int64_t cost, const std::optional<std::string>& tier, std::int64_t now) {
    Hold hold{client, tier, cost, now, {}};
    for (const Limit& limit : limits_of(client, tier)) hold.keys.push_back(key(client, limit));
    return hold;
  }

 private:
  static Key key(const std::string& client, const Limit& limit) {
    return {client, limit.text.name, limit.text.algorithm};
  }

  // What waits for the client's next decision or settlement by its own tier.
  [[nodiscard]] OnRaise raise_of(const std::string& client, const std::optional<std::string>& tier) const {
    const auto raise = raises_.find(client);
    return tier || raise == raises_.end() ? OnRaise::keep : raise->second;
  }

  // Whether a charge has left the window that it was in.
  static bool has_left(const Hold* hold, const Limit& limit, const Bucket& bucket, std::int64_t now) {
    if (hold == nullptr) return false;
    if (limit.text.algorithm == Algorithm::sliding_window) return now - hold->at >= limit.text.micros;
    return limit.text.algorithm == Algorithm::fixed_window && hold->at < bucket.touched;
  }

  static bool held(const Hold* hold, const std::string& client, const Limit& limit) {
    if (hold == nullptr) return true;
    for (const Key& each : hold->keys) {
      if (each == key(client, limit)) return true;
    }
    return false;
  }

  [[nodiscard]] std::optional<std::string> own(const std::string& client) const {
    const auto assigned = assigned_.find(client);
    if (assigned != assigned_.end()) return assigned->second;
    const auto written = document_.clients.find(client);
    if (written != document_.clients.end()) return written->second;
    return std::nullopt;
  }

  [[nodiscard]] Fallback fallback_of(const std::optional<std::string>& tier) const {
    if (!tier) return Fallback::no_tier;
    const auto found = document_.tiers.find(*tier);
    if (found == document_.tiers.end()) return Fallback::unknown_tier;
    return found->second.empty() ? Fallback::invalid_tier_policy : Fallback::none;
  }

  [[nodiscard]] std::vector<Limit> limits_of(const std::string& client, const std::optional<std::string>& asked) const {
    const std::optional<std::string> tier = asked ? asked : own(client);
    const bool falls_back = fallback_of(tier) != Fallback::none;
    std::vector<Limit> limits;
    for (const documents::Limit& text : falls_back ? document_.otherwise : document_.tiers.at(*tier)) {
      limits.push_back(limit_of(text, falls_back ? "" : *tier));
    }
    return limits;
  }

  static Limit limit_of(const documents::Limit& text, const std::string& tier) {
    Limit limit{text, tier, 1, 0, 0, text.tokens, static_cast<double>(text.tokens)};
    if (text.algorithm != Algorithm::token_bucket) return limit;
    // The least number of credits in a token that makes both whole.
    constexpr std::int64_t second = documents::second;
    const std::int64_t unit = std::lcm(text.halves % 2 + 1, second / std::gcd(text.rate, second));
    limit.unit = unit;
    limit.gain = Wide{text.rate} * unit / second;
    limit.full = Wide{text.halves} * unit / 2;
    limit.whole = text.halves / 2;
    limit.capacity = static_cast<double>(text.halves) / 2;
    return limit;
  }

  [[nodiscard]] bool too_early(const std::string& client, const std::vector<Limit>& limits, std::int64_t now) const {
    for (const Limit& limit : limits) {
      const auto found = buckets_.find(key(client, limit));
      if (found != buckets_.end() && now < found->second.touched) return true;
    }
    return false;
  }

  // The bucket under the limit at a time, nothing charged.
  [[nodiscard]] Bucket at(const std::string& client, const Limit& limit, std::int64_t now, OnRaise raise) const {
    const auto found = buckets_.find(key(client, limit));
    if (found == buckets_.end()) return {limit, limit.full, 0, {}, now};
    Bucket bucket = found->second;
    const Wide elapsed = Wide{now} - bucket.touched;
    const std::int64_t length = limit.text.micros;
    switch (limit.text.algorithm) {
      case Algorithm::token_bucket:
        bucket.balance = std::min(moved(bucket, limit, raise) + elapsed * limit.gain, limit.full);
        bucket.touched = now;
        break;
      case Algorithm::fixed_window:
        if (bucket.count == 0 || elapsed >= length) {
          bucket.count = 0;
          bucket.touched = now;
        }
        break;
      case Algorithm::sliding_window:
        while (!bucket.log.empty() && now - bucket.log.front().first >= length) bucket.log.erase(bucket.log.begin());
        bucket.touched = now;
        break;
    }
    bucket.last = limit;
    return bucket;
  }

  static Wide moved(const Bucket& bucket, const Limit& limit, OnRaise raise) {
    const Limit& last = bucket.last;
    const bool grew = limit.full * last.unit > last.full * limit.unit;
    // What `set_tier` asked for is for the move.
    const OnRaise mode = last.tier == limit.tier ? limit.text.on_raise : raise;
    Wide balance = bucket.balance * limit.unit / last.unit;
    if (grew && mode == OnRaise::fill) balance = limit.full;
    if (grew && mode == OnRaise::proportional) balance = bucket.balance * limit.full / last.full;
    if (grew && mode == OnRaise::add) {
      const Wide spent = ((last.full - bucket.balance) * limit.unit + last.unit - 1) / last.unit;
      balance = std::max(Wide{0}, limit.full - spent);
    }
    return std::min(balance, limit.full);
  }

  static std::int64_t total(const Bucket& bucket) {
    std::int64_t sum = bucket.count;
    for (const auto& [time, count] : bucket.log) sum += count;
    return sum;
  }

  static std::int64_t remaining(const Limit& limit, const Bucket& bucket) {
    if (limit.text.algorithm == Algorithm::token_bucket) return static_cast<std::int64_t>(bucket.balance / limit.unit);
    return std::max(std::int64_t{0}, limit.text.tokens - total(bucket));
  }

  static Wide whole_or_full(const Limit& limit) {
    return limit.text.algorithm == Algorithm::token_bucket ? limit.full : limit.whole;
  }

  // Microseconds until there are so many credits or tokens, which is possible in principle.
  /// In which all of it comes back.
  static std::optional<std::uint64_t> fill(const Limit& limit) {
    if (limit.text.algorithm != Algorithm::token_bucket) return static_cast<std::uint64_t>(limit.text.micros);
    if (limit.gain == 0) return std::nullopt;
    return static_cast<std::uint64_t>((limit.full + limit.gain - 1) / limit.gain);
  }

  static std::optional<std::uint64_t> until(const Limit& limit, const Bucket& bucket, Wide wanted, std::int64_t now) {
    if (limit.text.algorithm == Algorithm::token_bucket) {
      if (bucket.balance >= wanted) return 0;
      if (limit.gain == 0) return std::nullopt;
      return static_cast<std::uint64_t>((wanted - bucket.balance + limit.gain - 1) / limit.gain);
    }
    std::int64_t used = total(bucket);
    if (limit.whole - used >= wanted) return 0;
    if (limit.text.algorithm == Algorithm::fixed_window) {
      return static_cast<std::uint64_t>(bucket.touched + limit.text.micros - now);
    }
    for (const auto& [time, count] : bucket.log) {
      used -= count;
      if (limit.whole - used >= wanted) return static_cast<std::uint64_t>(time + limit.text.micros - now);
    }
    return std::nullopt;
  }

  // Microseconds until more than remains may be used; of a window that is empty, were it used now.
  static std::optional<std::uint64_t> more(const Limit& limit, const Bucket& bucket, std::int64_t now) {
    const Wide wanted = Wide{remaining(limit, bucket)} + 1;
    if (limit.text.algorithm == Algorithm::token_bucket) return until(limit, bucket, wanted * limit.unit, now);
    return total(bucket) == 0 ? fill(limit) : until(limit, bucket, wanted, now);
  }

  static Part judge(const Limit& limit, const Bucket& bucket, std::int64_t cost, std::int64_t now) {
    Part part{limit.text.name, limit.capacity, 0, std::nullopt, std::nullopt, fill(limit), std::nullopt, Reason::ok};
    if (cost > limit.whole) {
      part.reason = Reason::cost_exceeds_capacity;
      return part;
    }
    part.retry = until(limit, bucket, cost * limit.unit, now);
    if (!part.retry) part.reason = Reason::never_refills;
    if (part.retry && *part.retry > 0) part.reason = Reason::exhausted;
    return part;
  }

  static void charge(const Limit& limit, Bucket& bucket, std::int64_t cost, std::int64_t now) {
    switch (limit.text.algorithm) {
      case Algorithm::token_bucket: bucket.balance -= cost * limit.unit; break;
      case Algorithm::fixed_window: bucket.count += cost; break;
      case Algorithm::sliding_window:
        if (bucket.log.empty() || bucket.log.back().first != now) bucket.log.emplace_back(now, 0);
        bucket.log.back().second += cost;
        break;
    }
  }

  // Whether a part binds more than the one that does so far.
  static bool binds(const Answer& answer, std::size_t i) {
    if (i == 0) return true;
    const Part& part = answer.parts[i];
    const Part& other = answer.parts[answer.binding];
    if (answer.allowed) {
      return static_cast<double>(part.remaining) / part.limit < static_cast<double>(other.remaining) / other.limit;
    }
    if (!other.retry) return false;
    return !part.retry || *part.retry > *other.retry;
  }

  documents::Document document_;
  std::map<std::string, std::string> assigned_;
  std::map<std::string, OnRaise> raises_;
  std::map<Key, Bucket> buckets_;
};

}  // namespace reference
