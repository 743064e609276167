// SPDX-License-Identifier: MIT
// The module's own JavaScript surface, documented in README.md beside this file. It registers and copies; what is
// decided is decided in the core. Nothing here throws: whatever can fail returns a value that says so.
#include <emscripten/bind.h>
#include <emscripten/val.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "tierlimit/limiter.hpp"
#include "tierlimit/micros.hpp"

namespace tierlimit::bindings {
namespace {

using emscripten::val;

val text(std::string_view bytes) { return val(std::string{bytes}); }

// One function for all fields: each type of val::set is another.
void put(val& object, const char* name, const val& value) { object.set(name, value); }
void put(val& object, const char* name, double number) { put(object, name, val(number)); }

val problem(std::string_view code, const val& message, std::string_view path, double line, double column) {
  val object = val::object();
  put(object, "code", text(code));
  put(object, "message", message);
  put(object, "path", text(path));
  put(object, "line", line);
  put(object, "column", column);
  return object;
}

val to_js(const Error& error) {
  return problem(to_string(error.code), text(error.message), error.path, error.line, error.column);
}

val to_js(const std::vector<Error>& errors) {
  val array = val::array();
  for (unsigned i = 0; i < errors.size(); ++i) array.set(i, to_js(errors[i]));
  return array;
}

// Why there is no decision: the rule, and the number that breaks it.
val refusal(ErrorCode code, const char* rule, const val& value = val::null()) {
  val object = problem(to_string(code), val(rule), {}, 0, 0);
  put(object, "value", value);
  return object;
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
    load(policies);
  }
  explicit Limiter(const std::string& policies) { load(policies); }

  // The limiter as the hot path's exports take it.
  std::uintptr_t handle() { return reinterpret_cast<std::uintptr_t>(&limiter_); }

  val report() const {
    val object = val::object();
    put(object, "revision", limiter_.revision());
    put(object, "errors", to_js(errors_));
    put(object, "rejected", to_js(limiter_.rejected()));
    put(object, "warnings", to_js(limiter_.warnings()));
    return object;
  }

  val set_policies(const std::string& policies) {
    load(policies);
    return report();
  }

  bool seed(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    return limiter_.seed({std::uint64_t{b} << 32 | a, std::uint64_t{d} << 32 | c});
  }

  val set_tier(const std::string& client, const std::string& tier) { return assigned(limiter_.set_tier(client, tier)); }
  val clear_tier(const std::string& client) { return assigned(limiter_.set_tier(client, std::nullopt)); }

  val allow(const std::string& client, double cost, double now_ms) {
    return ask(Question::allow, client, cost, now_ms, nullptr);
  }
  val allow_as(const std::string& client, double cost, double now_ms, const std::string& tier) {
    return ask(Question::allow, client, cost, now_ms, &tier);
  }
  val check(const std::string& client, double cost, double now_ms) {
    return ask(Question::check, client, cost, now_ms, nullptr);
  }
  val check_as(const std::string& client, double cost, double now_ms, const std::string& tier) {
    return ask(Question::check, client, cost, now_ms, &tier);
  }
  val peek(const std::string& client, double cost, double now_ms) {
    return ask(Question::peek, client, cost, now_ms, nullptr);
  }
  val peek_as(const std::string& client, double cost, double now_ms, const std::string& tier) {
    return ask(Question::peek, client, cost, now_ms, &tier);
  }

  // The number of one of the document's tiers as the hot path takes it, or -2 for another name.
  std::int32_t tier(const std::string& name) const { return limiter_.tier(name).number; }

  // The name of a tier by the number that the hot path gives.
  val tier_name(std::uint32_t tier) const {
    const std::optional<std::string_view> name = limiter_.tier_name(tier);
    return name ? text(*name) : val::null();
  }

  val stats() const {
    const LimiterStats stats = limiter_.stats();
    val object = val::object();
    put(object, "buckets", stats.buckets);
    put(object, "bytes", static_cast<double>(stats.bytes));
    put(object, "assignments", stats.assignments);
    put(object, "allowed", static_cast<double>(stats.allowed));
    put(object, "denied", static_cast<double>(stats.denied));
    put(object, "evictions", static_cast<double>(stats.evictions));
    put(object, "evictedTokens", stats.evicted_tokens);
    put(object, "swept", static_cast<double>(stats.swept));
    put(object, "tableFull", static_cast<double>(stats.table_full));
    return object;
  }

 private:
  void load(const std::string& policies) {
    Result<std::uint32_t, std::vector<Error>> loaded = limiter_.set_policies(policies);
    errors_ = loaded ? std::vector<Error>{} : std::move(loaded.error());
  }

  static val assigned(const Result<bool>& result) { return result ? val::null() : to_js(result.error()); }

  enum class Question : std::uint8_t { allow, check, peek };

  val ask(Question question, const std::string& client, double cost, double now_ms, const std::string* tier) {
    const TierChoice choice = tier != nullptr ? limiter_.tier(*tier) : TierChoice{};
    const std::uint64_t whole = whole_cost(cost);
    const std::optional<std::int64_t> now = to_micros(now_ms);
    val error = val::null();
    Judgement judgement;
    if (!now) {
      error = refusal(ErrorCode::invalid_time, "nowMs must be finite and within 2^53 microseconds of 0", val(now_ms));
    } else {
      judgement = question == Question::peek ? limiter_.preview(client, choice, whole, *now)
                                             : limiter_.judge(client, choice, whole, *now);
      error = error_of(judgement, cost, now_ms);
    }
    const bool failed = !error.isNull();
    if (question == Question::allow) return failed ? val::null() : val(judgement.status == Judgement::Status::admitted);

    val object = val::object();
    put(object, "allowed", val(!failed && judgement.status == Judgement::Status::admitted));
    put(object, "error", error);
    if (!failed) describe(object, limiter_.describe(judgement, whole), now_ms, tier);
    return object;
  }

  static val error_of(const Judgement& judgement, double cost, double now_ms) {
    switch (judgement.status) {
      case Judgement::Status::clock:
        return refusal(ErrorCode::clock, "nowMs must not be earlier than at the client's last decision", val(now_ms));
      case Judgement::Status::invalid_cost:
        return refusal(ErrorCode::invalid_cost, "cost must be a whole number from 1 to 9007199254740991", val(cost));
      case Judgement::Status::not_seeded:
        return refusal(ErrorCode::not_seeded, "seed the limiter before its first decision");
      case Judgement::Status::no_policies:
        return refusal(ErrorCode::no_policies, "no policy document has been accepted");
      default: return val::null();
    }
  }

  static void describe(val& object, const Decision& decision, double now_ms, const std::string* tier) {
    const auto in_ms = [now_ms](const std::optional<std::uint64_t>& wait) {
      return wait ? val(wait_ms(now_ms, *wait)) : val::null();
    };
    put(object, "limit", decision.limit);
    put(object, "remaining", static_cast<double>(decision.remaining));
    put(object, "retryAfterMs", in_ms(decision.retry));
    put(object, "resetMs", in_ms(decision.reset));
    put(object, "tier", tier != nullptr ? val(*tier) : decision.tier ? text(*decision.tier) : val::null());
    put(object, "limitName", val("main"));
    put(object, "reason", text(to_string(decision.reason)));
    put(object, "fallback", decision.fallback == Fallback::none ? val::null() : text(to_string(decision.fallback)));
  }

  TierLimiter limiter_;
  std::vector<Error> errors_;
};

EMSCRIPTEN_BINDINGS(tierlimit) {
  using namespace emscripten;
  class_<Limiter>("TierLimiter")
      .constructor<const std::string&>()
      .constructor<const std::string&, double, double, bool, bool, bool>()
      .function("handle", &Limiter::handle)
      .function("report", &Limiter::report)
      .function("setPolicies", &Limiter::set_policies)
      .function("seed", &Limiter::seed)
      .function("setTier", &Limiter::set_tier)
      .function("clearTier", &Limiter::clear_tier)
      .function("allow", &Limiter::allow)
      .function("allow", &Limiter::allow_as)
      .function("check", &Limiter::check)
      .function("check", &Limiter::check_as)
      .function("peek", &Limiter::peek)
      .function("peek", &Limiter::peek_as)
      .function("tier", &Limiter::tier)
      .function("tierName", &Limiter::tier_name)
      .function("stats", &Limiter::stats);
}

}  // namespace
}  // namespace tierlimit::bindings
