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
#include "wtf8.hpp"

namespace tierlimit::bindings {
namespace {

using emscripten::val;

val text(std::string_view bytes) { return val(from_wtf8(bytes)); }

val to_js(const Error& error) {
  val object = val::object();
  object.set("code", text(to_string(error.code)));
  object.set("message", text(error.message));
  object.set("path", text(error.path));
  object.set("line", error.line);
  object.set("column", error.column);
  return object;
}

val to_js(const std::vector<Error>& errors) {
  val array = val::array();
  for (std::size_t i = 0; i < errors.size(); ++i) array.set(i, to_js(errors[i]));
  return array;
}

struct Options {
  double max_clients;
  double max_bytes;
  bool deny_when_full;
  bool strict;
  bool sweep;
};

LimiterOptions to_core(const Options& options) noexcept {
  LimiterOptions result;
  result.max_clients = static_cast<std::uint32_t>(std::clamp(options.max_clients, 8.0, 1e9));
  result.max_bytes = static_cast<std::uint64_t>(std::clamp(options.max_bytes, 1024.0, 4294967296.0));
  result.on_full = options.deny_when_full ? LimiterOptions::OnFull::deny : LimiterOptions::OnFull::evict;
  result.strict = options.strict;
  result.sweep = options.sweep;
  return result;
}

class Limiter {
 public:
  Limiter(const std::u16string& policies, const Options& options) : limiter_(to_core(options)) { load(policies); }
  explicit Limiter(const std::u16string& policies) { load(policies); }

  // The limiter as the hot path's exports take it.
  std::uintptr_t handle() { return reinterpret_cast<std::uintptr_t>(&limiter_); }

  val report() const {
    val object = val::object();
    object.set("revision", limiter_.revision());
    object.set("errors", to_js(errors_));
    object.set("rejected", to_js(limiter_.rejected()));
    object.set("warnings", to_js(limiter_.warnings()));
    return object;
  }

  val set_policies(const std::u16string& policies) {
    load(policies);
    return report();
  }

  void seed(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    limiter_.seed({std::uint64_t{b} << 32 | a, std::uint64_t{d} << 32 | c});
  }

  val set_tier(const std::u16string& client, const std::u16string& tier) {
    return assigned(limiter_.set_tier(to_wtf8(client), to_wtf8(tier)));
  }
  val clear_tier(const std::u16string& client) { return assigned(limiter_.set_tier(to_wtf8(client), std::nullopt)); }

  val allow(const std::u16string& client, double cost, double now_ms) { return allowed(client, cost, now_ms, nullptr); }
  val allow_as(const std::u16string& client, double cost, double now_ms, const std::u16string& tier) {
    return allowed(client, cost, now_ms, &tier);
  }
  val check(const std::u16string& client, double cost, double now_ms) {
    return decided(&TierLimiter::check, client, cost, now_ms, nullptr);
  }
  val check_as(const std::u16string& client, double cost, double now_ms, const std::u16string& tier) {
    return decided(&TierLimiter::check, client, cost, now_ms, &tier);
  }
  val peek(const std::u16string& client, double cost, double now_ms) {
    return decided(&TierLimiter::peek, client, cost, now_ms, nullptr);
  }
  val peek_as(const std::u16string& client, double cost, double now_ms, const std::u16string& tier) {
    return decided(&TierLimiter::peek, client, cost, now_ms, &tier);
  }

  // The name of a tier by the number that the hot path gives.
  val tier_name(std::uint32_t tier) const { return text(limiter_.tier_name(tier)); }

  val stats() const {
    const LimiterStats stats = limiter_.stats();
    val object = val::object();
    object.set("buckets", stats.buckets);
    object.set("bytes", static_cast<double>(stats.bytes));
    object.set("assignments", static_cast<double>(stats.assignments));
    object.set("allowed", static_cast<double>(stats.allowed));
    object.set("denied", static_cast<double>(stats.denied));
    object.set("evictions", static_cast<double>(stats.evictions));
    object.set("evictedTokens", stats.evicted_tokens);
    object.set("swept", static_cast<double>(stats.swept));
    object.set("tableFull", static_cast<double>(stats.table_full));
    return object;
  }

 private:
  void load(const std::u16string& policies) {
    Result<std::uint32_t, std::vector<Error>> loaded = limiter_.set_policies(to_wtf8(policies));
    errors_ = loaded ? std::vector<Error>{} : std::move(loaded.error());
  }

  static val assigned(const Result<bool>& result) { return result ? val::null() : to_js(result.error()); }

  using Ask = Result<Decision> (TierLimiter::*)(const Request&, std::int64_t);

  Result<Decision> ask(Ask question, const std::u16string& client, double cost, double now_ms,
                       const std::u16string* tier) {
    const std::optional<std::int64_t> now = to_micros(now_ms);
    if (!now) return refused(ErrorCode::invalid_time, "the time", now_ms, "finite and within 2^53 microseconds of zero");
    const std::uint64_t whole = whole_cost(cost);
    if (whole == 0) {
      return refused(ErrorCode::invalid_cost, "the cost", cost, "a whole number from 1 to 9007199254740991");
    }
    const std::string name = to_wtf8(client);
    tier_ = tier != nullptr ? to_wtf8(*tier) : std::string{};
    Request request{name, whole};
    if (tier != nullptr) request.tier = tier_;
    return (limiter_.*question)(request, *now);
  }

  static Error refused(ErrorCode code, const char* what, double value, const char* rule) {
    Error error;
    error.code = code;
    error.message = what + (" is " + to_wtf8(val(value).call<std::u16string>("toString"))) + "; it must be " + rule;
    return error;
  }

  val allowed(const std::u16string& client, double cost, double now_ms, const std::u16string* tier) {
    const Result<Decision> decision = ask(&TierLimiter::check, client, cost, now_ms, tier);
    return decision ? val(decision.value().allowed) : val::null();
  }

  val decided(Ask question, const std::u16string& client, double cost, double now_ms, const std::u16string* tier) {
    const Result<Decision> result = ask(question, client, cost, now_ms, tier);
    val object = val::object();
    if (!result) {
      object.set("allowed", false);
      object.set("error", to_js(result.error()));
      return object;
    }
    const Decision& decision = result.value();
    const auto in_ms = [now_ms](const std::optional<std::uint64_t>& wait) {
      return wait ? val(wait_ms(now_ms, *wait)) : val::null();
    };
    object.set("allowed", decision.allowed);
    object.set("limit", decision.limit);
    object.set("remaining", static_cast<double>(decision.remaining));
    object.set("retryAfterMs", in_ms(decision.retry));
    object.set("resetMs", in_ms(decision.reset));
    object.set("tier", decision.tier ? text(*decision.tier) : val::null());
    object.set("limitName", text("main"));
    object.set("reason", text(to_string(decision.reason)));
    object.set("fallback", decision.fallback == Fallback::none ? val::null() : text(to_string(decision.fallback)));
    object.set("error", val::null());
    return object;
  }

  TierLimiter limiter_;
  std::vector<Error> errors_;
  std::string tier_;  // a decision refers to the tier's name
};

EMSCRIPTEN_BINDINGS(tierlimit) {
  using namespace emscripten;
  value_object<Options>("TierLimiterOptions")
      .field("maxClients", &Options::max_clients)
      .field("maxBytes", &Options::max_bytes)
      .field("denyWhenFull", &Options::deny_when_full)
      .field("strict", &Options::strict)
      .field("sweep", &Options::sweep);
  class_<Limiter>("TierLimiter")
      .constructor<const std::u16string&>()
      .constructor<const std::u16string&, const Options&>()
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
      .function("tierName", &Limiter::tier_name)
      .function("stats", &Limiter::stats);
}

}  // namespace
}  // namespace tierlimit::bindings
