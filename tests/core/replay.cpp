// SPDX-License-Identifier: MIT
// Performs recorded operations on limiters, one a line from standard input, and prints one answer a line, so that the
// model in tests/model/ can be compared with the native library. tests/model/transcript.js writes and reads the lines:
//
//   open <strict> <maxClients> <onFull> <policies> <tier> …     -> report … | refused …
//                                   a new limiter; 0 is the default bound. By each of the tiers it can be told whether
//                                   a client has one certain bucket; its name is ?<limit>/<algorithm>
//   policies <now> <policies>                                   -> report … | refused … | clock-error
//   setTier <now> <client> <tier> <onRaise>                     -> done | clock-error
//   check <now> <client> <cost> <tier>, peek …                  -> decision … | clock … | invalid-time | invalid-cost
//   allow <now> <client> <cost> <tier>                          -> allow … | clock … | invalid-time | invalid-cost
//   allow-many <now> <cost> <tier> <client> …                   -> allow-many … | clock … | invalid-time | invalid-cost
//   refund <now> <client> <cost> <tier>                         -> done | clock … | invalid-time | invalid-cost
//   reserve <now> <client> <cost> <tier> <ttl>                  -> decision … | clock … | invalid-time | invalid-cost
//   settle <now> <reservation> <actual>, cancel <now> <reservation>
//                                                               -> settlement <outcome> <returned> <debt> | clock-error
//                                   reservations are numbered from 0, those that failed too
//   shadow <policies>                                           -> shadow … | refused … | done
//   promote <now>                                               -> report … | clock-error
//   restore <now> <now of the restored>                         -> report …
//                                   goes on with a limiter made of a snapshot, by which nobody settles reservations
//   shadow-stats                                                -> shadow-stats …
//   stats                                                       -> stats …
//
// A decision is `decision <allowed> <limit> <remaining> <retry> <reset> <tier> <limit name> <reason> <fallback>` and
// for each limit ` | <name> <limit> <remaining> <retry> <reset>`. Where a bound is given, an answer ends with “
// evicted” and the buckets that were, each as <client>/<limit>/<algorithm>, if any were.
//
// A double is a d and the 16 hexadecimal digits of its bits, a string is an s and its bytes in hexadecimal; - stands
// for a double or string that is not there.
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tierlimit/tierlimit.hpp"

namespace {

using tierlimit::Error;
using tierlimit::ErrorCode;
using tierlimit::List;

[[noreturn]] void fail(const std::string& what) {
  std::cerr << "tierlimit_replay: " << what << '\n';
  std::exit(2);
}

template <class T>
T number(std::string_view text, int base) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) fail("not a number: " + std::string(text));
  return value;
}

std::string hex(std::uint64_t value, int digits) {
  std::string text(static_cast<std::size_t>(digits), '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, value >>= 4) *digit = "0123456789abcdef"[value & 15];
  return text;
}

double read_double(std::string_view text) {
  if (text.empty() || text.front() != 'd') fail("not a double: " + std::string(text));
  return std::bit_cast<double>(number<std::uint64_t>(text.substr(1), 16));
}

std::string write(double value) { return std::string("d").append(hex(std::bit_cast<std::uint64_t>(value), 16)); }

std::optional<std::string> read_optional_string(std::string_view text) {
  if (text == "-") return std::nullopt;
  if (text.empty() || text.front() != 's') fail("not a string: " + std::string(text));
  std::string bytes;
  for (std::size_t at = 1; at < text.size(); at += 2) {
    bytes.push_back(static_cast<char>(number<std::uint8_t>(text.substr(at, 2), 16)));
  }
  return bytes;
}

std::string read_string(std::string_view text) {
  auto string = read_optional_string(text);
  if (!string) fail("a string is missing");
  return *string;
}

std::string write(std::string_view bytes) {
  std::string text = "s";
  for (const char byte : bytes) text += hex(static_cast<unsigned char>(byte), 2);
  return text;
}

/// Sorted: in which order the faults of one tier come is left open.
std::string write(const List<Error>& errors) {
  std::vector<std::string> words;
  for (const Error& error : errors) {
    words.push_back(std::string(" ").append(to_string(error.code)).append(":").append(write(error.path)));
  }
  std::sort(words.begin(), words.end());
  std::string text;
  for (const std::string& word : words) text += word;
  return text;
}

/// One limiter and what the lines ask of it.
class Replay {
 public:
  Replay(const tierlimit::LimiterOptions& options, std::vector<std::string> probes)
      : options_(options), limiter_(std::make_unique<tierlimit::TierLimiter>(options)), probes_(std::move(probes)) {
    limiter_->seed({1, 2});
  }

  std::string set_policies(const std::string& text, std::optional<std::int64_t> now = std::nullopt) {
    const auto revision = limiter_->set_policies(text, now);
    if (!revision) return refused(revision.error());
    return "report " + std::to_string(revision.value()) + report(*limiter_);
  }

  std::string set_tier(double now_ms, const std::string& client, const std::optional<std::string>& tier,
                       tierlimit::OnRaise on_raise) {
    const auto done = limiter_->set_tier(client, tier, on_raise, tierlimit::to_micros(now_ms));
    if (done) return "done";
    return done.error().code == ErrorCode::clock ? "clock-error" : std::string(to_string(done.error().code));
  }

  std::string allow(double now_ms, const tierlimit::Request& request) {
    const auto now = tierlimit::to_micros(now_ms);
    if (!now) return std::string(to_string(ErrorCode::invalid_time));
    using Status = tierlimit::Judgement::Status;
    const auto judgement = limiter_->judge(request.client, limiter_->choice(request.tier), request.cost, *now);
    const std::string line = judgement.status == Status::admitted ? "allow 1"
                             : judgement.status == Status::denied ? "allow 0"
                                                                  : refusal(now_ms, judgement);
    notice(request.client);
    return line;
  }

  // All of the clients or, where one cannot be judged, none.
  std::string allow_many(double now_ms, const std::vector<std::string>& clients, const tierlimit::Request& request) {
    const auto now = tierlimit::to_micros(now_ms);
    if (!now) return std::string(to_string(ErrorCode::invalid_time));
    if (request.cost == 0 || request.cost > tierlimit::max_cost) return std::string(to_string(ErrorCode::invalid_cost));
    using Status = tierlimit::Judgement::Status;
    const auto choice = limiter_->choice(request.tier);
    for (const std::string& client : clients) {
      const auto judgement = limiter_->preview(client, choice, request.cost, *now);
      if (judgement.status != Status::admitted && judgement.status != Status::denied) return refusal(now_ms, judgement);
    }
    std::string line = "allow-many ";
    for (const std::string& client : clients) {
      const auto judgement = limiter_->judge(client, choice, request.cost, *now);
      notice(client);
      // What a client's first request leaves may make the time too early for its second.
      if (judgement.status != Status::admitted && judgement.status != Status::denied) return refusal(now_ms, judgement);
      line += judgement.status == Status::admitted ? '1' : '0';
    }
    return line;
  }

  std::string decide(bool spend, double now_ms, const tierlimit::Request& request) {
    const auto now = tierlimit::to_micros(now_ms);
    if (!now) return std::string(to_string(ErrorCode::invalid_time));
    const auto result = spend ? limiter_->check(request, *now) : limiter_->peek(request, *now);
    const std::string line = result ? told(now_ms, result.value()) : failure(now_ms, *now, request, result.error());
    notice(request.client);
    return line;
  }

  std::string refund(double now_ms, const tierlimit::Request& request) {
    const auto now = tierlimit::to_micros(now_ms);
    if (!now) return std::string(to_string(ErrorCode::invalid_time));
    const auto done = limiter_->refund(request, *now);
    return done ? "done" : failure(now_ms, *now, request, done.error());
  }

  std::string reserve(double now_ms, const tierlimit::Request& request, double ttl_ms) {
    reservations_.push_back({});
    const auto now = tierlimit::to_micros(now_ms);
    if (!now) return std::string(to_string(ErrorCode::invalid_time));
    auto result = limiter_->reserve(request, *now);
    if (!result) return failure(now_ms, *now, request, result.error());
    Held& held = reservations_.back();
    const std::string line = told(now_ms, result.value().decision);
    held.cost = request.cost;
    held.until_ms = now_ms + ttl_ms;
    held.outcome = result.value().decision.allowed ? "" : "denied";
    held.reservation = std::move(result.value());
    notice(request.client);
    return line;
  }

  // Once, and while there is time: that is the caller's business.
  std::string settle(double now_ms, std::size_t number, std::uint64_t actual, const std::string& outcome) {
    const auto now = tierlimit::to_micros(now_ms);
    if (!now) return std::string(to_string(ErrorCode::invalid_time));
    Held& held = reservations_.at(number);
    if (held.outcome.empty() && now_ms >= held.until_ms) held.outcome = "expired";
    if (!held.outcome.empty()) return "settlement " + held.outcome + " 0 0";
    const auto settlement = limiter_->settle(*held.reservation, actual, *now);
    if (!settlement) {
      const ErrorCode code = settlement.error().code;
      return code == ErrorCode::clock ? "clock-error" : std::string(to_string(code));
    }
    notice(held.reservation->client);
    held.outcome = "already-" + outcome;
    const auto [returned, debt] = settlement.value();
    return "settlement " + outcome + ' ' + std::to_string(returned) + ' ' + std::to_string(debt);
  }

  std::string set_shadow(const std::optional<std::string>& text) {
    if (!text) {
      limiter_->clear_shadow();
      return "done";
    }
    const auto done = limiter_->set_shadow_policies(*text);
    if (!done) return refused(done.error());
    candidate_ = *text;
    return "shadow" + report(*limiter_->shadow());
  }

  std::string promote(double now_ms) {
    const std::string line = set_policies(candidate_, tierlimit::to_micros(now_ms));
    if (line.starts_with("report")) limiter_->clear_shadow();
    return line;
  }

  [[nodiscard]] std::string shadow_stats() const {
    static constexpr std::array classes{"call", "assigned", "document", "none"};
    std::vector<std::string> rows;
    for (const tierlimit::ShadowCount& count : limiter_->shadow_counts()) {
      std::ostringstream row;
      const auto tier = limiter_->tier_name(count.tier);
      row << " | " << (tier ? write(*tier) : "-") << ' ' << classes.at(static_cast<std::size_t>(count.client_class))
          << ' ' << count.both_allow << ' ' << count.both_deny << ' ' << count.only_live_allows << ' '
          << count.only_shadow_allows;
      rows.push_back(row.str());
    }
    std::sort(rows.begin(), rows.end());
    std::string line = "shadow-stats";
    for (const std::string& row : rows) line += row;
    return line;
  }

  // A new limiter goes on with what a snapshot of the old one says.
  std::string restore(double now_ms, double restored_ms) {
    std::string bytes;
    tierlimit::codec::Stream to;
    to.write = [](void* context, const void* from, std::size_t size) {
      static_cast<std::string*>(context)->append(static_cast<const char*>(from), size);
    };
    to.context = &bytes;
    const auto written = limiter_->snapshot(to, *tierlimit::to_micros(now_ms));
    if (!written) return std::string(to_string(written.error().code));

    auto restored = std::make_unique<tierlimit::TierLimiter>(options_);
    tierlimit::codec::Stream from;
    from.read = [](void* context, std::uint64_t place, void* into, std::size_t size) {
      static_cast<std::string*>(context)->copy(static_cast<char*>(into), size, place);
    };
    from.context = &bytes;
    from.size = bytes.size();
    const auto read = restored->restore(from, *tierlimit::to_micros(restored_ms));
    if (!read) return std::string(to_string(read.error().code));
    limiter_ = std::move(restored);
    reservations_.clear();
    return "report " + std::to_string(limiter_->revision()) + report(*limiter_);
  }

  [[nodiscard]] std::string stats() const {
    const auto stats = limiter_->stats();
    std::ostringstream line;
    line << "stats " << stats.buckets << ' ' << stats.assignments << ' ' << stats.allowed << ' ' << stats.denied << ' '
         << limiter_->revision() << ' ' << stats.evictions << ' ' << write(stats.evicted_tokens) << ' '
         << stats.table_full;
    return line.str();
  }

  // Which buckets have been evicted since this was asked last.
  std::string evicted() {
    const std::string buckets = std::exchange(evicted_, {});
    return buckets.empty() ? buckets : " evicted" + buckets;
  }

 private:
  // A reservation, and what has become of it.
  struct Held {
    std::optional<tierlimit::Reservation> reservation;
    std::uint64_t cost = 0;
    double until_ms = 0;
    std::string outcome = "denied";  // Of settling it (again); empty while it is open.
  };
  // A client and the tier that tells of one of its buckets.
  using Bucket = std::pair<std::string, std::size_t>;

  // Notices what has been evicted, now that `client` may have got buckets.
  void notice(std::string_view client) {
    if (probes_.empty()) return;
    const std::uint64_t evictions = limiter_->stats().evictions;
    if (evictions != std::exchange(evictions_, evictions)) {
      std::vector<std::string> gone;
      for (auto each = present_.begin(); each != present_.end();) {
        if (has(each->first, each->second)) {
          ++each;
        } else {
          gone.push_back(write(each->first) + '/' + probes_[each->second].substr(1));
          each = present_.erase(each);
        }
      }
      std::sort(gone.begin(), gone.end());
      if (!evicted_.empty()) evicted_ += " ;";
      for (const std::string& bucket : gone) evicted_ += ' ' + bucket;
    }
    for (std::size_t probe = 0; probe < probes_.size(); ++probe) {
      if (has(client, probe)) present_.emplace(client, probe);
    }
  }

  [[nodiscard]] bool has(std::string_view client, std::size_t probe) const {
    using tierlimit::Algorithm;
    const std::string_view tier = probes_[probe];
    const auto slash = tier.find('/');
    const auto algorithm = tier.substr(slash + 1);
    return limiter_->remembers(client, tier.substr(1, slash - 1),
                               algorithm == "token-bucket"     ? Algorithm::token_bucket
                               : algorithm == "sliding-window" ? Algorithm::sliding_window
                                                               : Algorithm::fixed_window);
  }

  static std::string refused(const List<Error>& errors) {
    if (errors.size() == 1 && errors.front().code == ErrorCode::clock) return "clock-error";
    return "refused" + write(errors);
  }

  static std::string report(const tierlimit::TierLimiter& limiter) {
    return write(limiter.rejected()) + " |" + write(limiter.warnings());
  }

  static std::string told(double now_ms, const tierlimit::Decision& decision) {
    const auto wait = [&](const std::optional<std::uint64_t>& micros) {
      return micros ? write(tierlimit::wait_ms(now_ms, *micros)) : "-";
    };
    const auto numbers = [&](const auto& of) {
      return write(of.limit) + ' ' + std::to_string(of.remaining) + ' ' + wait(of.retry) + ' ' + wait(of.reset) + ' ' +
             (of.window ? write(static_cast<double>(*of.window) / 1000) : "-");
    };
    const auto fallback = to_string(decision.fallback);
    std::ostringstream line;
    line << "decision " << decision.allowed << ' ' << numbers(decision) << ' '
         << (decision.tier ? write(*decision.tier) : "-") << ' ' << write(decision.limit_name) << ' '
         << to_string(decision.reason) << ' ' << (fallback.empty() ? "-" : fallback);
    for (const tierlimit::LimitDecision& limit : decision.limits) {
      line << " | " << write(limit.name) << ' ' << numbers(limit) << ' ' << wait(limit.more);
    }
    return line.str();
  }

  std::string failure(double now_ms, std::int64_t now, const tierlimit::Request& request, const Error& error) {
    if (error.code != ErrorCode::clock) return std::string(to_string(error.code));
    // A cost of 1 is as good as any.
    return clock(now_ms, limiter_->preview(request.client, limiter_->choice(request.tier), 1, now));
  }

  static std::string refusal(double now_ms, const tierlimit::Judgement& judgement) {
    using Status = tierlimit::Judgement::Status;
    switch (judgement.status) {
      case Status::clock: return clock(now_ms, judgement);
      case Status::invalid_cost: return "invalid-cost";
      case Status::no_policies: return "no-policies";
      case Status::not_seeded: return "not-seeded";
      default: fail("a judgement without a status");
    }
  }

  static std::string clock(double now_ms, const tierlimit::Judgement& judgement) {
    return std::string("clock ")
        .append(write(now_ms))
        .append(" ")
        .append(write(static_cast<double>(judgement.state.touched) / 1000));
  }

  tierlimit::LimiterOptions options_;
  std::unique_ptr<tierlimit::TierLimiter> limiter_;
  std::vector<Held> reservations_;
  std::string candidate_;            // Of the shadow.
  std::vector<std::string> probes_;  // Tiers that tell of one bucket each; none: nobody asks who is evicted.
  std::set<Bucket> present_;
  std::uint64_t evictions_ = 0;
  std::string evicted_;
};

tierlimit::OnRaise read_on_raise(std::string_view text) {
  using tierlimit::OnRaise;
  static constexpr std::array<std::pair<std::string_view, OnRaise>, 4> all{{{"keep", OnRaise::keep},
                                                                            {"fill", OnRaise::fill},
                                                                            {"proportional", OnRaise::proportional},
                                                                            {"add", OnRaise::add}}};
  for (const auto& [name, value] : all) {
    if (name == text) return value;
  }
  fail("not an onRaise: " + std::string(text));
}

std::string answer(std::unique_ptr<Replay>& replay, const std::string& line) {
  std::istringstream words(line);
  const auto next = [&] {
    std::string word;
    if (!(words >> word)) fail("a word is missing: " + line);
    return word;
  };
  const auto strings = [&] {
    std::vector<std::string> rest;
    for (std::string word; words >> word;) rest.push_back(read_string(word));
    return rest;
  };
  const auto count = [&] { return number<std::uint64_t>(next(), 10); };

  const std::string kind = next();
  if (kind == "open") {
    tierlimit::LimiterOptions options{.strict = next() == "1", .sweep = false};
    const auto max_clients = static_cast<std::uint32_t>(count());
    if (max_clients != 0) options.max_clients = max_clients;
    if (next() == "deny") options.on_full = tierlimit::LimiterOptions::OnFull::deny;
    const std::string policies = read_string(next());
    replay = std::make_unique<Replay>(options, strings());
    return replay->set_policies(policies);
  }
  if (!replay) fail("no limiter is open: " + line);
  if (kind == "stats") return replay->stats();
  if (kind == "shadow-stats") return replay->shadow_stats();
  if (kind == "shadow") return replay->set_shadow(read_optional_string(next()));

  const double now_ms = read_double(next());
  if (kind == "policies") return replay->set_policies(read_string(next()), tierlimit::to_micros(now_ms));
  if (kind == "promote") return replay->promote(now_ms);
  if (kind == "restore") return replay->restore(now_ms, read_double(next()));
  if (kind == "setTier") {
    const std::string client = read_string(next());
    const auto tier = read_optional_string(next());
    return replay->set_tier(now_ms, client, tier, read_on_raise(next()));
  }
  if (kind == "settle") {
    const std::size_t reservation = count();
    return replay->settle(now_ms, reservation, count(), "settled");
  }
  if (kind == "cancel") return replay->settle(now_ms, count(), 0, "cancelled");
  if (kind == "allow-many") {
    const std::uint64_t cost = count();
    const auto tier = read_optional_string(next());
    return replay->allow_many(now_ms, strings(), {.client = {}, .cost = cost, .tier = tier});
  }
  const std::string client = read_string(next());
  const std::uint64_t cost = count();
  const auto tier = read_optional_string(next());
  const tierlimit::Request request{.client = client, .cost = cost, .tier = tier};
  if (kind == "allow") return replay->allow(now_ms, request);
  if (kind == "refund") return replay->refund(now_ms, request);
  if (kind == "reserve") return replay->reserve(now_ms, request, read_double(next()));
  if (kind == "check" || kind == "peek") return replay->decide(kind == "check", now_ms, request);
  fail("not an operation: " + line);
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::unique_ptr<Replay> replay;
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << answer(replay, line);
    std::cout << replay->evicted() << '\n';
  }
  return std::cout.flush() ? 0 : 1;
}
