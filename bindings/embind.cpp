// SPDX-License-Identifier: MIT
// The module's own JavaScript surface, documented in README.md beside this file. It registers and copies; what is
// decided is decided in the core. Nothing here throws: whatever can fail returns a value that says so.
#include <emscripten/bind.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "answer.hpp"
#include "arguments.hpp"
#include "result.hpp"
#include "tierlimit/limiter.hpp"
#include "tierlimit/list.hpp"
#include "tierlimit/micros.hpp"
#include "wire.hpp"

namespace tierlimit::bindings {
namespace {

using std::string_view;

// ---- Results -------------------------------------------------------------------------------------------------------

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

void optional_number(const char* name, const std::optional<double>& value) {
  if (value) {
    result::number(name, *value);
  } else {
    result::null(name);
  }
}

// ---- A limiter -----------------------------------------------------------------------------------------------------

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

struct Limiter {
  TierLimiter core;
  List<Error> errors;  // Why the document that was last given was refused.

  explicit Limiter(const LimiterOptions& options) : core(options) {}

  void load(Text policies, double now_ms) {
    errors.clear();
    static_cast<void>(core.load(policies.view(), to_micros(now_ms), errors));
  }
};

// In place of a change's time.
constexpr double no_time = std::numeric_limits<double>::quiet_NaN();

Limiter* make(Text policies, const LimiterOptions& options) {
  auto* const limiter = new Limiter(options);
  limiter->load(policies, no_time);
  return limiter;
}
Limiter* make_default(Text policies) { return make(policies, {}); }
Limiter* make_with(Text policies, double max_clients, double max_bytes, bool deny_when_full, bool strict, bool sweep) {
  return make(policies, options_of(max_clients, max_bytes, deny_when_full, strict, sweep));
}

// The limiter as the hot path's exports take it.
void handle(Limiter& limiter) {
  result::number(result::unnamed, static_cast<double>(reinterpret_cast<std::uintptr_t>(&limiter.core)));
}

// ---- Policies ------------------------------------------------------------------------------------------------------

void report_of(const Limiter& limiter, const TierLimiter& loaded) {
  result::object();
  result::number("revision", limiter.core.revision());
  problems("errors", limiter.errors);
  problems("rejected", loaded.rejected());
  problems("warnings", loaded.warnings());
  const std::optional<std::int64_t> changed = limiter.core.changed();
  optional_number("changedMs", changed ? std::optional{static_cast<double>(*changed) / 1000} : std::nullopt);
  result::end();
}

void report(Limiter& limiter) { report_of(limiter, limiter.core); }

void set_policies(Limiter& limiter, Text policies, OptionalNumber now_ms) {
  limiter.load(policies, now_ms.value);
  report(limiter);
}

void set_shadow_policies(Limiter& limiter, Text policies) {
  limiter.errors.clear();
  static_cast<void>(limiter.core.load_shadow(policies.view(), limiter.errors));
  // Of a candidate that is refused there is none: then what is told of the one before is of no use.
  report_of(limiter, limiter.core.shadow() != nullptr ? *limiter.core.shadow() : limiter.core);
}

void clear_shadow(Limiter& limiter) {
  limiter.core.clear_shadow();
  result::null(result::unnamed);
}

// The name of a tier; none where there is no such tier.
string_view name_of(const Limiter& limiter, TierId tier) {
  return limiter.core.tier_name(tier).value_or(string_view{});
}

void shadow_stats(Limiter& limiter) {
  constexpr const char* classes[] = {"call", "assigned", "document", "none"};
  result::array(result::unnamed);
  for (const ShadowCount& count : limiter.core.shadow_counts()) {
    result::object();
    result::text("tier", name_of(limiter, count.tier));
    result::text("clientClass", classes[static_cast<int>(count.client_class)]);
    result::numbers("bothAllow bothDeny onlyLiveAllows onlyShadowAllows",
                    {static_cast<double>(count.both_allow), static_cast<double>(count.both_deny),
                     static_cast<double>(count.only_live_allows), static_cast<double>(count.only_shadow_allows)});
    result::end();
  }
  result::end();
}

// ---- Tiers ---------------------------------------------------------------------------------------------------------

void assign(Limiter& limiter, Text client, std::optional<string_view> tier, double on_raise, double now_ms) {
  const auto raise = static_cast<OnRaise>(within(0, 3, on_raise));
  const std::optional<ErrorCode> error = limiter.core.assign(client.view(), tier, raise, to_micros(now_ms));
  if (error) {
    problem(result::unnamed, TierLimiter::explain_change(*error));
  } else {
    result::null(result::unnamed);
  }
}

void set_tier(Limiter& limiter, Text client, Text tier, OptionalNumber on_raise, OptionalNumber now_ms) {
  assign(limiter, client, tier.view(), on_raise.value, now_ms.value);
}

void clear_tier(Limiter& limiter, Text client, OptionalNumber on_raise, OptionalNumber now_ms) {
  assign(limiter, client, std::nullopt, on_raise.value, now_ms.value);
}

// The number of one of the document's tiers as the hot path takes it, or -2 for another name.
void tier(Limiter& limiter, Text name) { result::number(result::unnamed, limiter.core.tier(name.view()).number); }

// The name of a tier by the number that the hot path gives.
void tier_name(Limiter& limiter, std::uint32_t tier) { result::text(result::unnamed, name_of(limiter, tier)); }

// ---- Decisions -----------------------------------------------------------------------------------------------------

void seed(Limiter& limiter, std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  result::boolean(result::unnamed, limiter.core.seed({std::uint64_t{b} << 32 | a, std::uint64_t{d} << 32 | c}));
}

// Why there is no decision.
void refusal(Status status, double cost, double now_ms) {
  struct Rule {
    ErrorCode code;
    const char* text;
  };
  constexpr Rule rules[] = {
      {ErrorCode::clock, "nowMs must not be earlier than at the client's last decision"},
      {ErrorCode::invalid_time, "nowMs must be finite and within 2^53 microseconds of 0"},
      {ErrorCode::invalid_cost, "cost must be a whole number from 1 to 9007199254740991"},
      {ErrorCode::not_seeded, "seed the limiter before its first decision"},
      {ErrorCode::no_policies, "no policy document has been accepted"},
  };
  const Rule& rule = rules[clock_error - status];
  result::object("error");
  problem(to_string(rule.code), rule.text, "", 0, 0);
  // The number that breaks the rule.
  if (status <= not_seeded) {
    result::null("value");
  } else {
    result::number("value", status == invalid_cost ? cost : now_ms);
  }
  result::end();
}

void describe_limit(const char* name, const LimitAnswer& limit) {
  result::text(name, limit.name_size != 0 ? string_view{limit.name, limit.name_size} : "main");
}

// In words, or whether it is admitted.
void decide(Question question, bool in_words, Limiter& limiter, Text client, double cost, double now_ms,
            OptionalText tier) {
  Answer answer;
  const Status status =
      ask(question, limiter.core, limiter.core.fingerprint_of(client.view()),
          tier.given() ? limiter.core.tier(tier.text.view()) : TierChoice{}, whole_cost(cost), now_ms, answer);
  if (!in_words) {
    if (status < 0) {
      result::null(result::unnamed);
    } else {
      result::boolean(result::unnamed, status == admitted);
    }
    return;
  }
  result::object();
  result::boolean("allowed", status == admitted);
  if (status < 0) {
    refusal(status, cost, now_ms);
  } else {
    result::null("error");
    const LimitAnswer& binding = answer.limit[answer.binding];
    result::numbers("limit remaining retryAfterMs resetMs windowMs", &binding.limit);
    result::text("tier", tier.given() ? tier.text.view() : name_of(limiter, static_cast<TierId>(answer.tier)));
    describe_limit("limitName", binding);
    result::text("reason", to_string(static_cast<Reason>(answer.reason)));
    const auto fallback = static_cast<Fallback>(answer.fallback);
    result::text("fallback", fallback != Fallback::none ? to_string(fallback) : string_view{});
    result::array("limits");
    for (std::uint32_t i = 0; i < answer.limits; ++i) {
      result::object();
      describe_limit("name", answer.limit[i]);
      result::numbers("limit remaining retryAfterMs resetMs windowMs moreAfterMs", &answer.limit[i].limit);
      result::end();
    }
    result::end();
  }
  result::end();
}

void allow(Limiter& limiter, Text client, double cost, double now_ms, OptionalText tier) {
  decide(Question::check, false, limiter, client, cost, now_ms, tier);
}
void check(Limiter& limiter, Text client, double cost, double now_ms, OptionalText tier) {
  decide(Question::check, true, limiter, client, cost, now_ms, tier);
}
void peek(Limiter& limiter, Text client, double cost, double now_ms, OptionalText tier) {
  decide(Question::peek, true, limiter, client, cost, now_ms, tier);
}

// ---- All of it -----------------------------------------------------------------------------------------------------

// In pieces; none where there is nothing yet.
void snapshot(Limiter& limiter, double now_ms) {
  codec::Stream stream;
  stream.write = [](void*, const void* piece, std::size_t size) { result::bytes(result::unnamed, piece, size); };
  const std::optional<std::int64_t> now = to_micros(now_ms);
  result::array(result::unnamed);
  if (now) static_cast<void>(limiter.core.write_snapshot(stream, *now));
  result::end();
}

extern "C" void tierlimit_read_snapshot(double from, void* to, std::size_t size);

// Of the bytes that the module has as `snapshot`. What is wrong with them, or null.
void restore(Limiter& limiter, double size, double now_ms) {
  codec::Stream stream;
  stream.size = static_cast<std::uint64_t>(size);
  stream.read = [](void*, std::uint64_t from, void* to, std::size_t count) {
    tierlimit_read_snapshot(static_cast<double>(from), to, count);
  };
  const std::optional<std::int64_t> now = to_micros(now_ms);
  const codec::Fault fault = now ? limiter.core.read_snapshot(stream, *now) : codec::Fault::none;
  limiter.errors.clear();
  if (fault == codec::Fault::none) {
    result::null(result::unnamed);
  } else {
    result::text(result::unnamed, to_string(fault));
  }
}

void stats(Limiter& limiter) {
  const LimiterStats stats = limiter.core.stats();
  result::object();
  result::numbers(
      "buckets bytes assignments allowed denied evictions evictedTokens swept tableFull",
      {static_cast<double>(stats.buckets), static_cast<double>(stats.bytes), static_cast<double>(stats.assignments),
       static_cast<double>(stats.allowed), static_cast<double>(stats.denied), static_cast<double>(stats.evictions),
       stats.evicted_tokens, static_cast<double>(stats.swept), static_cast<double>(stats.table_full)});
  result::end();
}

// ---- The class -----------------------------------------------------------------------------------------------------

// The types of arguments, as JavaScript's typeof names them.
extern "C" void tierlimit_argument_type(emscripten::internal::TYPEID type, const char* name, bool optional);

template <class Argument>
void argument_type(const char* name, bool optional = false) {
  tierlimit_argument_type(emscripten::internal::TypeID<Argument>::get(), name, optional);
}

// As EMSCRIPTEN_BINDINGS does it in the oldest version. In newer ones that macro calls for embind's library, which
// would register two dozen types more: with their names, 1 kB gzipped.
[[gnu::constructor]] void register_bindings() {
  using namespace emscripten;
  argument_type<bool>("boolean");
  argument_type<double>("number");
  argument_type<std::uint32_t>("number");
  argument_type<Text>("string");
  argument_type<OptionalNumber>("number", true);
  argument_type<OptionalText>("string", true);
  class_<Limiter>("TierLimiter")
      .constructor(&make_default, allow_raw_pointers())
      .constructor(&make_with, allow_raw_pointers())
      .function("handle", &handle)
      .function("report", &report)
      .function("setPolicies", &set_policies)
      .function("setShadowPolicies", &set_shadow_policies)
      .function("clearShadow", &clear_shadow)
      .function("shadowStats", &shadow_stats)
      .function("seed", &seed)
      .function("setTier", &set_tier)
      .function("clearTier", &clear_tier)
      .function("allow", &allow)
      .function("check", &check)
      .function("peek", &peek)
      .function("tier", &tier)
      .function("tierName", &tier_name)
      .function("snapshot", &snapshot)
      .function("restore", &restore)
      .function("stats", &stats);
}

}  // namespace
}  // namespace tierlimit::bindings
