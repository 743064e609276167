// SPDX-License-Identifier: MIT
// Performs recorded operations on limiters, one a line from standard input, and prints one answer a line, so that the
// model in tests/model/ can be compared with the native library. tests/model/transcript.js writes and reads the lines:
//
//   open <strict> <maxClients> <onFull> <policies>              -> report … | refused …
//                                   a new limiter; 0 is the default bound
//   policies <policies>                                         -> report … | refused …
//   setTier <client> <tier>                                     -> done
//   check <now> <client> <cost> <tier>, peek …                  -> decision … | clock … | invalid-time | invalid-cost
//   allow <now> <client> <cost> <tier>                          -> allow … | clock … | invalid-time | invalid-cost
//   allow-many <now> <cost> <tier> <client> …                   -> allow-many … | clock … | invalid-time | invalid-cost
//   stats                                                       -> stats …
//
// Where a bound is given, an answer ends with “ evicted” and the clients who were, if any were.
//
// A double is a d and the 16 hexadecimal digits of its bits, a string is an s and its bytes in hexadecimal; - stands
// for a double or string that is not there.
#include <algorithm>
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
std::string write(const std::vector<Error>& errors) {
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
  Replay(const tierlimit::LimiterOptions& options, bool watches) : limiter_(options), watches_(watches) {
    limiter_.seed({1, 2});
  }

  std::string set_policies(const std::string& text) {
    const auto revision = limiter_.set_policies(text);
    if (!revision) return "refused" + write(revision.error());
    return "report " + std::to_string(revision.value()) + write(limiter_.rejected()) + " |" +
           write(limiter_.warnings());
  }

  std::string set_tier(const std::string& client, const std::optional<std::string>& tier) {
    const auto done = limiter_.set_tier(client, tier);
    return done ? "done" : std::string(to_string(done.error().code));
  }

  std::string allow(double now_ms, const tierlimit::Request& request) {
    const auto now = tierlimit::to_micros(now_ms);
    if (!now) return std::string(to_string(ErrorCode::invalid_time));
    using Status = tierlimit::Judgement::Status;
    const auto judgement = limiter_.judge(request.client, choice(request), request.cost, *now);
    notice(request.client);
    switch (judgement.status) {
      case Status::admitted: return "allow 1";
      case Status::denied: return "allow 0";
      default: return refusal(now_ms, judgement);
    }
  }

  // All of the clients or, where one cannot be judged, none.
  std::string allow_many(double now_ms, const std::vector<std::string>& clients, const tierlimit::Request& request) {
    const auto now = tierlimit::to_micros(now_ms);
    if (!now) return std::string(to_string(ErrorCode::invalid_time));
    if (request.cost == 0 || request.cost > tierlimit::max_cost) return std::string(to_string(ErrorCode::invalid_cost));
    using Status = tierlimit::Judgement::Status;
    for (const std::string& client : clients) {
      const auto judgement = limiter_.preview(client, choice(request), request.cost, *now);
      if (judgement.status != Status::admitted && judgement.status != Status::denied) return refusal(now_ms, judgement);
    }
    std::string line = "allow-many ";
    for (const std::string& client : clients) {
      const auto judgement = limiter_.judge(client, choice(request), request.cost, *now);
      line += judgement.status == Status::admitted ? '1' : '0';
      notice(client);
    }
    return line;
  }

  std::string decide(bool spend, double now_ms, const tierlimit::Request& request) {
    const auto now = tierlimit::to_micros(now_ms);
    if (!now) return std::string(to_string(ErrorCode::invalid_time));
    const auto result = spend ? limiter_.check(request, *now) : limiter_.peek(request, *now);
    notice(request.client);
    if (!result) {
      if (result.error().code != ErrorCode::clock) return std::string(to_string(result.error().code));
      return clock(now_ms, limiter_.preview(request.client, choice(request), request.cost, *now));
    }
    const tierlimit::Decision& decision = result.value();
    const auto wait = [&](const std::optional<std::uint64_t>& micros) {
      return micros ? write(tierlimit::wait_ms(now_ms, *micros)) : "-";
    };
    const auto fallback = to_string(decision.fallback);
    std::ostringstream line;
    line << "decision " << decision.allowed << ' ' << write(decision.limit) << ' ' << decision.remaining << ' '
         << wait(decision.retry) << ' ' << wait(decision.reset) << ' ' << (decision.tier ? write(*decision.tier) : "-")
         << " main " << to_string(decision.reason) << ' ' << (fallback.empty() ? "-" : fallback);
    return line.str();
  }

  std::string stats() const {
    const auto stats = limiter_.stats();
    std::ostringstream line;
    line << "stats " << stats.buckets << ' ' << stats.assignments << ' ' << stats.allowed << ' ' << stats.denied << ' '
         << limiter_.revision() << ' ' << stats.evictions << ' ' << write(stats.evicted_tokens) << ' '
         << stats.table_full;
    return line.str();
  }

  // Who has been evicted since this was asked last.
  std::string evicted() {
    const std::string clients = std::exchange(evicted_, {});
    return clients.empty() ? clients : " evicted" + clients;
  }

 private:
  // Notices who has been evicted, now that `client` may have got a bucket.
  void notice(std::string_view client) {
    if (!watches_) return;
    const std::uint64_t evictions = limiter_.stats().evictions;
    if (evictions != std::exchange(evictions_, evictions)) {
      for (auto each = present_.begin(); each != present_.end();) {
        if (has(*each)) {
          ++each;
        } else {
          evicted_ += ' ' + write(*each);
          each = present_.erase(each);
        }
      }
    }
    if (has(client)) present_.emplace(client);
  }

  // Whether a client has a bucket: only then a time can be too early for it. (Nothing is swept.)
  [[nodiscard]] bool has(std::string_view client) const {
    return limiter_.earliest(*limiter_.fingerprint(client), {}) > -tierlimit::max_micros;
  }

  [[nodiscard]] tierlimit::TierChoice choice(const tierlimit::Request& request) const {
    return request.tier ? limiter_.tier(*request.tier) : tierlimit::TierChoice{};
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

  tierlimit::TierLimiter limiter_;
  bool watches_;                   // for evictions
  std::set<std::string> present_;  // Clients with a bucket.
  std::uint64_t evictions_ = 0;
  std::string evicted_;
};

std::string answer(std::unique_ptr<Replay>& replay, const std::string& line) {
  std::istringstream words(line);
  const auto next = [&] {
    std::string word;
    if (!(words >> word)) fail("a word is missing: " + line);
    return word;
  };

  const std::string kind = next();
  if (kind == "open") {
    tierlimit::LimiterOptions options{.strict = next() == "1", .sweep = false};
    const auto max_clients = number<std::uint32_t>(next(), 10);
    if (max_clients != 0) options.max_clients = max_clients;
    if (next() == "deny") options.on_full = tierlimit::LimiterOptions::OnFull::deny;
    replay = std::make_unique<Replay>(options, max_clients != 0);
    return replay->set_policies(read_string(next()));
  }
  if (!replay) fail("no limiter is open: " + line);
  if (kind == "policies") return replay->set_policies(read_string(next()));
  if (kind == "stats") return replay->stats();
  if (kind == "setTier") {
    const std::string client = read_string(next());
    return replay->set_tier(client, read_optional_string(next()));
  }

  const double now_ms = read_double(next());
  if (kind == "allow-many") {
    const auto cost = number<std::uint64_t>(next(), 10);
    const auto tier = read_optional_string(next());
    std::vector<std::string> clients;
    for (std::string word; words >> word;) clients.push_back(read_string(word));
    return replay->allow_many(now_ms, clients, {.client = {}, .cost = cost, .tier = tier});
  }
  const std::string client = read_string(next());
  const auto cost = number<std::uint64_t>(next(), 10);
  const auto tier = read_optional_string(next());
  const tierlimit::Request request{.client = client, .cost = cost, .tier = tier};
  if (kind == "allow") return replay->allow(now_ms, request);
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
