// SPDX-License-Identifier: MIT
// The module's own JavaScript surface, documented in README.md beside this file. It registers and copies; what is
// decided is decided in the core. Nothing here throws: whatever can fail returns a value that says so.
#include <emscripten/bind.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "arguments.hpp"
#include "result.hpp"
#include "tierlimit/limiter.hpp"
#include "tierlimit/list.hpp"
#include "tierlimit/micros.hpp"

namespace tierlimit::bindings {
namespace {

using std::string_view;

void problem(string_view code, string_view message, string_view path, double line, double column) {
  result::text("code", code);
  result::text("message", message);
  result::text("path", path);
  result::number("line", line);
  result::number("column", column);
}

void problem(const char* name, const Error& error) {
  result::object(name);
  problem(to_string(error.code), error.message, error.path, error.line, error.column);
  result::end();
}

void problems(const char* name, const List<Error>& errors) {
  result::array(name);
  for (const Error& error : errors) problem(result::unnamed, error);
  result::end();
}

extern "C" void tierlimit_read_snapshot(double from, void* to, std::size_t size);

// Why there is no decision: the rule, and the number that breaks it.
struct Refusal {
  ErrorCode code = ErrorCode::no_policies;
  const char* rule = nullptr;  // null: there is a decision
  std::optional<double> value = std::nullopt;
};

void optional_number(const char* name, const std::optional<double>& value) {
  if (value) {
    result::number(name, *value);
  } else {
    result::null(name);
  }
}

void optional_text(const char* name, const std::optional<string_view>& text) {
  if (text) {
    result::text(name, *text);
  } else {
    result::null(name);
  }
}

// Within both; NaN is the lower one.
double within(double least, double most, double value) noexcept { return std::min(most, std::max(least, value)); }

LimiterOptions options_of(double max_clients, double max_bytes, bool deny_when_full, bool strict, bool sweep) noexcept {
  LimiterOptions options;
  options.max_clients = static_cast<std::uint32_t>(within(8, 1e9, max_clients));
  options.max_bytes = static_cast<std::uint64_t>(within(1024, 4294967296, max_bytes));
  options.on_full = deny_when_full ? LimiterOptions::OnFull::deny : LimiterOptions::OnFull::evict;
  options.strict = strict;
  options.sweep = sweep;
  return options;
}

class Limiter {
 public:
  Limiter(const std::string& policies, double max_clients, double max_bytes, bool deny_when_full, bool strict,
          bool sweep)
      : limiter_(options_of(max_clients, max_bytes, deny_when_full, strict, sweep)) {
    load(policies, no_time);
  }
  explicit Limiter(const std::string& policies) { load(policies, no_time); }

  // The limiter as the hot path's exports take it.
  void handle() { result::number(result::unnamed, static_cast<double>(reinterpret_cast<std::uintptr_t>(&limiter_))); }

  void report() { tell(limiter_); }

  void set_policies(const std::string& policies) { set_policies_at(policies, no_time); }
  void set_policies_at(const std::string& policies, double now_ms) {
    load(policies, now_ms);
    report();
  }

  void set_shadow_policies(const std::string& policies) {
    errors_.clear();
    static_cast<void>(limiter_.load_shadow(policies, errors_));
    // Of a candidate that is refused there is none: then what is told of the one before is of no use.
    tell(limiter_.shadow() != nullptr ? *limiter_.shadow() : limiter_);
  }
  void clear_shadow() {
    limiter_.clear_shadow();
    result::null(result::unnamed);
  }

  void shadow_stats() {
    constexpr const char* classes[] = {"call", "assigned", "document", "none"};
    result::array(result::unnamed);
    for (const ShadowCount& count : limiter_.shadow_counts()) {
      result::object();
      optional_text("tier", limiter_.tier_name(count.tier));
      result::text("clientClass", classes[static_cast<int>(count.client_class)]);
      result::number("bothAllow", static_cast<double>(count.both_allow));
      result::number("bothDeny", static_cast<double>(count.both_deny));
      result::number("onlyLiveAllows", static_cast<double>(count.only_live_allows));
      result::number("onlyShadowAllows", static_cast<double>(count.only_shadow_allows));
      result::end();
    }
    result::end();
  }

  void seed(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    result::boolean(result::unnamed, limiter_.seed({std::uint64_t{b} << 32 | a, std::uint64_t{d} << 32 | c}));
  }

  void set_tier(const std::string& client, const std::string& tier) { assign(client, tier, 0, no_time); }
  void set_tier_at(const std::string& client, const std::string& tier, double on_raise, double now_ms) {
    assign(client, tier, on_raise, now_ms);
  }
  void clear_tier(const std::string& client) { assign(client, std::nullopt, 0, no_time); }
  void clear_tier_at(const std::string& client, double on_raise, double now_ms) {
    assign(client, std::nullopt, on_raise, now_ms);
  }

  void allow(const std::string& client, double cost, double now_ms) {
    ask(Question::allow, client, cost, now_ms, nullptr);
  }
  void allow_as(const std::string& client, double cost, double now_ms, const std::string& tier) {
    ask(Question::allow, client, cost, now_ms, &tier);
  }
  void check(const std::string& client, double cost, double now_ms) {
    ask(Question::check, client, cost, now_ms, nullptr);
  }
  void check_as(const std::string& client, double cost, double now_ms, const std::string& tier) {
    ask(Question::check, client, cost, now_ms, &tier);
  }
  void peek(const std::string& client, double cost, double now_ms) {
    ask(Question::peek, client, cost, now_ms, nullptr);
  }
  void peek_as(const std::string& client, double cost, double now_ms, const std::string& tier) {
    ask(Question::peek, client, cost, now_ms, &tier);
  }

  // The number of one of the document's tiers as the hot path takes it, or -2 for another name.
  void tier(const std::string& name) { result::number(result::unnamed, limiter_.tier(name).number); }

  // The name of a tier by the number that the hot path gives.
  void tier_name(std::uint32_t tier) { optional_text(result::unnamed, limiter_.tier_name(tier)); }

  // In pieces; none where there is nothing yet.
  void snapshot(double now_ms) {
    codec::Stream stream;
    stream.write = [](void*, const void* piece, std::size_t size) { result::bytes(result::unnamed, piece, size); };
    const std::optional<std::int64_t> now = to_micros(now_ms);
    result::array(result::unnamed);
    if (now) static_cast<void>(limiter_.write_snapshot(stream, *now));
    result::end();
  }

  // Of the bytes that the module has as `snapshot`. What is wrong with them, or null.
  void restore(double size, double now_ms) {
    codec::Stream stream;
    stream.size = static_cast<std::uint64_t>(size);
    stream.read = [](void*, std::uint64_t from, void* to, std::size_t count) {
      tierlimit_read_snapshot(static_cast<double>(from), to, count);
    };
    const std::optional<std::int64_t> now = to_micros(now_ms);
    const codec::Fault fault = now ? limiter_.read_snapshot(stream, *now) : codec::Fault::none;
    errors_.clear();
    if (fault == codec::Fault::none) {
      result::null(result::unnamed);
    } else {
      result::text(result::unnamed, to_string(fault));
    }
  }

  void stats() {
    const LimiterStats stats = limiter_.stats();
    result::object();
    result::number("buckets", stats.buckets);
    result::number("bytes", static_cast<double>(stats.bytes));
    result::number("assignments", stats.assignments);
    result::number("allowed", static_cast<double>(stats.allowed));
    result::number("denied", static_cast<double>(stats.denied));
    result::number("evictions", static_cast<double>(stats.evictions));
    result::number("evictedTokens", stats.evicted_tokens);
    result::number("swept", static_cast<double>(stats.swept));
    result::number("tableFull", static_cast<double>(stats.table_full));
    result::end();
  }

 private:
  // In place of a change's time.
  static constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

  void load(const std::string& policies, double now_ms) {
    errors_.clear();
    static_cast<void>(limiter_.load(policies, to_micros(now_ms), errors_));
  }

  void tell(const TierLimiter& loaded) {
    result::object();
    result::number("revision", limiter_.revision());
    problems("errors", errors_);
    problems("rejected", loaded.rejected());
    problems("warnings", loaded.warnings());
    const std::optional<std::int64_t> changed = limiter_.changed();
    optional_number("changedMs", changed ? std::optional{static_cast<double>(*changed) / 1000} : std::nullopt);
    result::end();
  }

  void assign(const std::string& client, std::optional<string_view> tier, double on_raise, double now_ms) {
    const auto raise = static_cast<OnRaise>(within(0, 3, on_raise));
    const std::optional<ErrorCode> error = limiter_.assign(client, tier, raise, to_micros(now_ms));
    if (error) {
      problem(result::unnamed, TierLimiter::explain_change(*error));
    } else {
      result::null(result::unnamed);
    }
  }

  enum class Question : std::uint8_t { allow, check, peek };

  void ask(Question question, const std::string& client, double cost, double now_ms, const std::string* tier) {
    const TierChoice choice = tier != nullptr ? limiter_.tier(*tier) : TierChoice{};
    const std::uint64_t whole = whole_cost(cost);
    const std::optional<std::int64_t> now = to_micros(now_ms);
    Refusal refusal{ErrorCode::invalid_time, "nowMs must be finite and within 2^53 microseconds of 0", now_ms};
    Judgement judgement;
    if (now) {
      judgement = question == Question::peek ? limiter_.preview(client, choice, whole, *now)
                                             : limiter_.judge(client, choice, whole, *now);
      refusal = refusal_of(judgement, cost, now_ms);
    }
    const bool refused = refusal.rule != nullptr;
    const bool admitted = judgement.status == Judgement::Status::admitted;
    if (question == Question::allow) {
      if (refused) {
        result::null(result::unnamed);
      } else {
        result::boolean(result::unnamed, admitted);
      }
      return;
    }
    result::object();
    result::boolean("allowed", admitted);
    if (refused) {
      result::object("error");
      problem(to_string(refusal.code), refusal.rule, {}, 0, 0);
      optional_number("value", refusal.value);
      result::end();
    } else {
      result::null("error");
      describe(judgement, whole, now_ms, tier);
    }
    result::end();
  }

  static Refusal refusal_of(const Judgement& judgement, double cost, double now_ms) {
    switch (judgement.status) {
      case Judgement::Status::clock:
        return {ErrorCode::clock, "nowMs must not be earlier than at the client's last decision", now_ms};
      case Judgement::Status::invalid_cost:
        return {ErrorCode::invalid_cost, "cost must be a whole number from 1 to 9007199254740991", cost};
      case Judgement::Status::not_seeded: return {ErrorCode::not_seeded, "seed the limiter before its first decision"};
      case Judgement::Status::no_policies: return {ErrorCode::no_policies, "no policy document has been accepted"};
      default: return {};
    }
  }

  void describe(const Judgement& judgement, std::uint64_t cost, double now_ms, const std::string* tier) {
    const LimitDecision binding = limiter_.describe_limit(judgement, cost, judgement.binding);
    numbers(binding, now_ms);
    const std::optional<string_view> own = judgement.has_tier ? limiter_.tier_name(judgement.tier) : std::nullopt;
    optional_text("tier", tier != nullptr ? std::optional<string_view>{*tier} : own);
    result::text("limitName", binding.name);
    result::text("reason", to_string(judgement.reason));
    const string_view fallback = to_string(judgement.fallback);
    optional_text("fallback", fallback.empty() ? std::nullopt : std::optional{fallback});
    result::array("limits");
    for (std::uint32_t i = 0; i < TierLimiter::limits_of(judgement); ++i) {
      const LimitDecision limit = limiter_.describe_limit(judgement, cost, i);
      result::object();
      result::text("name", limit.name);
      numbers(limit, now_ms);
      more(limit, now_ms);
      result::end();
    }
    result::end();
  }

  static void numbers(const LimitDecision& limit, double now_ms) {
    const auto in_ms = [now_ms](const std::optional<std::uint64_t>& wait) {
      return wait ? std::optional{wait_ms(now_ms, *wait)} : std::nullopt;
    };
    result::number("limit", limit.limit);
    result::number("remaining", static_cast<double>(limit.remaining));
    optional_number("retryAfterMs", in_ms(limit.retry));
    optional_number("resetMs", in_ms(limit.reset));
    optional_number("windowMs", limit.window ? std::optional{static_cast<double>(*limit.window) / 1000} : std::nullopt);
  }

  static void more(const LimitDecision& limit, double now_ms) {
    optional_number("moreAfterMs", limit.more ? std::optional{wait_ms(now_ms, *limit.more)} : std::nullopt);
  }

  TierLimiter limiter_;
  List<Error> errors_;
};

// The types of arguments, as JavaScript's typeof names them.
extern "C" void tierlimit_argument_type(emscripten::internal::TYPEID type, const char* name);

template <class Argument>
void argument_type(const char* name) {
  tierlimit_argument_type(emscripten::internal::TypeID<Argument>::get(), name);
}

// As EMSCRIPTEN_BINDINGS does it in the oldest version. In newer ones that macro calls for embind's library, which
// would register two dozen types more: with their names, 1 kB gzipped.
[[gnu::constructor]] void register_bindings() {
  using namespace emscripten;
  argument_type<bool>("boolean");
  argument_type<double>("number");
  argument_type<std::uint32_t>("number");
  argument_type<std::string>("string");
  class_<Limiter>("TierLimiter")
      .constructor<const std::string&>()
      .constructor<const std::string&, double, double, bool, bool, bool>()
      .function("handle", &Limiter::handle)
      .function("report", &Limiter::report)
      .function("setPolicies", &Limiter::set_policies)
      .function("setPolicies", &Limiter::set_policies_at)
      .function("setShadowPolicies", &Limiter::set_shadow_policies)
      .function("clearShadow", &Limiter::clear_shadow)
      .function("shadowStats", &Limiter::shadow_stats)
      .function("seed", &Limiter::seed)
      .function("setTier", &Limiter::set_tier)
      .function("setTier", &Limiter::set_tier_at)
      .function("clearTier", &Limiter::clear_tier)
      .function("clearTier", &Limiter::clear_tier_at)
      .function("allow", &Limiter::allow)
      .function("allow", &Limiter::allow_as)
      .function("check", &Limiter::check)
      .function("check", &Limiter::check_as)
      .function("peek", &Limiter::peek)
      .function("peek", &Limiter::peek_as)
      .function("tier", &Limiter::tier)
      .function("tierName", &Limiter::tier_name)
      .function("snapshot", &Limiter::snapshot)
      .function("restore", &Limiter::restore)
      .function("stats", &Limiter::stats);
}

}  // namespace
}  // namespace tierlimit::bindings
