// SPDX-License-Identifier: MIT
// The shared vectors (tests/vectors/decisions.json) through the native library.
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "tierlimit/tierlimit.hpp"

namespace {

using rapidjson::Value;

std::string text_of(const Value& value) {
  if (value.IsString()) return value.GetString();
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer(buffer);
  value.Accept(writer);
  return buffer.GetString();
}

double number(const Value& step, const char* name, double otherwise) {
  return step.HasMember(name) ? step[name].GetDouble() : otherwise;
}

bool equals(const Value& expected, std::string_view actual) {
  if (expected.IsNull()) return actual.empty();
  return expected.IsString() && expected.GetString() == actual;
}

bool equals(const Value& expected, const std::optional<std::uint64_t>& wait, double now_ms) {
  if (expected.IsNull()) return !wait;
  return wait && expected.GetDouble() == tierlimit::wait_ms(now_ms, *wait);
}

/// Performs the steps of one case.
class Performer {
 public:
  Performer() { limiter_.seed({1, 2}); }

  void all(const Value& steps) {
    for (const Value& step : steps.GetArray()) one(step);
  }

 private:
  void one(const Value& step) {
    if (step.HasMember("policies")) {
      REQUIRE(limiter_.set_policies(text_of(step["policies"])).ok());
    } else if (step.HasMember("setTier")) {
      const Value& tier = step["setTier"][1];
      const auto name = tier.IsNull() ? std::nullopt : std::optional<std::string_view>(tier.GetString());
      REQUIRE(limiter_.set_tier(step["setTier"][0].GetString(), name).ok());
    } else if (step.HasMember("repeat")) {
      for (int i = 0; i < step["repeat"].GetInt(); ++i) all(step["steps"]);
    } else {
      decide(step);
    }
  }

  void decide(const Value& step) {
    const double from = step["atMs"].GetDouble();
    const double until = number(step, "untilMs", from);
    for (double now_ms = from; now_ms <= until; now_ms += number(step, "everyMs", 1)) {
      for (int time = 0; time < number(step, "times", 1); ++time) decide(step, now_ms);
    }
  }

  void decide(const Value& step, double now_ms) {
    const bool spend = step.HasMember("check");
    tierlimit::Request request{.client = step[spend ? "check" : "peek"].GetString()};
    if (step.HasMember("cost")) request.cost = step["cost"].GetUint64();
    if (step.HasMember("tier")) request.tier = step["tier"].GetString();
    INFO((spend ? "check " : "peek ") << request.client << " at " << now_ms << " ms");

    const auto now = tierlimit::to_micros(now_ms);
    REQUIRE(now.has_value());
    const auto decision = spend ? limiter_.check(request, *now) : limiter_.peek(request, *now);
    const Value& expected = step["expect"];
    if (expected.HasMember("error")) {
      REQUIRE_FALSE(decision.ok());
      CHECK(equals(expected["error"], to_string(decision.error().code)));
      return;
    }
    REQUIRE(decision.ok());
    for (const auto& [name, value] : expected.GetObject())
      check_field(name.GetString(), value, decision.value(), now_ms);
  }

  static void check_field(std::string_view name, const Value& expected, const tierlimit::Decision& decision,
                          double now_ms) {
    INFO(name << " is to be " << text_of(expected));
    if (name == "allowed") {
      CHECK(decision.allowed == expected.GetBool());
    } else if (name == "limit") {
      CHECK(decision.limit == expected.GetDouble());
    } else if (name == "remaining") {
      CHECK(decision.remaining == expected.GetInt64());
    } else if (name == "retryAfterMs") {
      CHECK(equals(expected, decision.retry, now_ms));
    } else if (name == "resetMs") {
      CHECK(equals(expected, decision.reset, now_ms));
    } else if (name == "windowMs") {
      CHECK(expected.IsNull() == !decision.window);
      if (decision.window) CHECK(expected.GetDouble() == static_cast<double>(*decision.window) / 1000);
    } else if (name == "tier") {
      CHECK(equals(expected, decision.tier.value_or("")));
    } else if (name == "limitName") {
      CHECK(equals(expected, "main"));
    } else if (name == "reason") {
      CHECK(equals(expected, to_string(decision.reason)));
    } else if (name == "fallback") {
      CHECK(equals(expected, to_string(decision.fallback)));
    } else {
      FAIL("a decision has no such field");
    }
  }

  tierlimit::TierLimiter limiter_;
};

}  // namespace

TEST_CASE("decisions are those worked out by hand") {
  std::ifstream file(TIERLIMIT_VECTORS "/decisions.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  rapidjson::Document document;
  document.Parse(text.c_str());
  REQUIRE_FALSE(document.HasParseError());
  REQUIRE_FALSE(document["cases"].GetArray().Empty());
  for (const Value& vector : document["cases"].GetArray()) {
    DYNAMIC_SECTION(vector["name"].GetString()) { Performer().all(vector["steps"]); }
  }
}
