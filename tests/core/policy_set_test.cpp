// SPDX-License-Identifier: MIT
#include "tierlimit/policy_set.hpp"

#include <rapidjson/document.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "catch.hpp"

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>
#endif

using tierlimit::Algorithm;
using tierlimit::ClientTier;
using tierlimit::Decimal;
using tierlimit::Error;
using tierlimit::ErrorCode;
using tierlimit::Limit;
using tierlimit::LimitName;
using tierlimit::List;
using tierlimit::NamedLimit;
using tierlimit::Policy;
using tierlimit::PolicySet;
using tierlimit::Result;
using tierlimit::Tier;

namespace {

using Loaded = Result<PolicySet, List<Error>>;

const std::string default_member = R"("default": {"capacity": 5, "refillPerSecond": 1})";

PolicySet accepted(std::string_view text) {
  Loaded loaded = PolicySet::from_json(text);
  if (!loaded) FAIL(loaded.error()[0].message.view());
  return std::move(loaded.value());
}

Limit limit(std::string_view capacity, std::string_view tokens, std::string_view seconds = "1") {
  return Limit::make(*Decimal::parse(capacity), *Decimal::parse(tokens), *Decimal::parse(seconds)).value();
}

Limit window(Algorithm algorithm, std::string_view most, std::string_view seconds) {
  return Limit::window(algorithm, *Decimal::parse(most), *Decimal::parse(seconds)).value();
}

// What the document says of a tier: the name of each limit, how it counts and what is set, a line for each.
std::string limits(const Policy& policy) {
  const char* const algorithms[] = {"bucket", "sliding", "fixed"};
  const char* const raises[] = {"keep", "fill", "proportional", "add"};
  const char* const accruals[] = {"at-next", "prorated"};
  std::string lines;
  for (const NamedLimit& each : policy.limits) {
    lines += std::string(each.name.view()) + ": " + algorithms[static_cast<int>(each.limit.algorithm)] + " of " +
             std::to_string(each.limit.whole) + ", " + raises[static_cast<int>(each.limit.on_raise)] + ", " +
             accruals[static_cast<int>(each.limit.accrual)] + "\n";
  }
  return lines;
}

std::string limits(const std::string& policy) {
  return limits(accepted("{\"default\":" + policy + "}").default_policy);
}

std::string message(std::string_view text) {
  const Loaded loaded = PolicySet::from_json(text, true);
  return loaded.ok() ? "accepted" : std::string(loaded.error()[0].message);
}

std::string tier_message(const std::string& tier) {
  return message("{" + default_member + R"(, "tiers": {"t": )" + tier + "}}");
}

// code, path and place of each error, a line for each.
std::string listing(const List<Error>& errors) {
  std::string lines;
  for (const Error& error : errors) {
    lines += std::string(to_string(error.code)) + " " + std::string(error.path) + " " + std::to_string(error.line) +
             ":" + std::to_string(error.column) + "\n";
  }
  return lines;
}

std::string listing(const rapidjson::Value& vector, const char* member) {
  std::string lines;
  const auto found = vector.FindMember(member);
  if (found == vector.MemberEnd()) return lines;
  for (const rapidjson::Value& error : found->value.GetArray()) {
    lines += std::string(error["code"].GetString()) + " " + error["path"].GetString() + " " +
             std::to_string(error["line"].GetUint()) + ":" + std::to_string(error["column"].GetUint()) + "\n";
  }
  return lines;
}

// A document that is in order: five megabytes for 20,000 tiers and 150,000 clients. Every third tier has three limits.
std::string long_document(int tiers, int clients) {
  std::string text = "{\n" + default_member + ",\n\"tiers\": {";
  for (int i = 0; i < tiers; ++i) {
    text += (i == 0 ? "\n\"tier-" : ",\n\"tier-") + std::to_string(i) + "\": ";
    const std::string bucket =
        R"("capacity": )" + std::to_string(i + 1) + R"(, "refill": {"tokens": 0.25, "seconds": 3600}})";
    if (i % 3 != 0) {
      text += "{" + bucket;
      continue;
    }
    text += R"({"limits": [{"name": "main", )" + bucket;
    const std::string longest(LimitName::longest - 2, 'n');
    for (const char number : {'1', '2'}) {
      text +=
          R"(, {"name": ")" + longest + number + R"(", "algorithm": "fixed-window", "limit": 10, "windowSeconds": 60})";
    }
    text += "]}";
  }
  text += "},\n\"clients\": {";
  for (int i = 0; i < clients; ++i) {
    text += (i == 0 ? "\n\"client-" : ",\n\"client-") + std::to_string(i) + "\": \"tier-" + std::to_string(i % tiers) +
            "\"";
  }
  return text + "}}\n";
}

}  // namespace

TEST_CASE("Documents of the shared vectors", "[policy_set]") {
  std::ifstream file(TIERLIMIT_VECTORS "/policy-documents.json", std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  rapidjson::Document vectors;
  vectors.Parse(content.data(), content.size());
  REQUIRE(vectors.IsArray());
  REQUIRE(vectors.Size() > 100);
  for (const rapidjson::Value& vector : vectors.GetArray()) {
    const std::string name = vector["name"].GetString();
    const std::string text(vector["text"].GetString(), vector["text"].GetStringLength());
    const bool strict = vector.HasMember("strict") && vector["strict"].GetBool();
    CAPTURE(name, text);
    const Loaded loaded = PolicySet::from_json(text, strict);
    CHECK(loaded.ok() == !vector.HasMember("errors"));
    if (!loaded.ok()) {
      CHECK(listing(loaded.error()) == listing(vector, "errors"));
      for (const Error& error : loaded.error()) CHECK_FALSE(error.message.empty());
    } else {
      CHECK(listing(loaded.value().rejected) == listing(vector, "rejected"));
      CHECK(listing(loaded.value().warnings) == listing(vector, "warnings"));
    }
  }
}

TEST_CASE("A document says what its limits are", "[policy_set]") {
  const PolicySet set = accepted(R"({
    "default": { "capacity": 5, "refillPerSecond": 1 },
    "tiers": {
      "pro": { "capacity": 100.5, "refill": { "tokens": 100, "seconds": 60 } },
      "free": { "refillPerSecond": 0.1, "capacity": 1e1 },
      "audit": { "algorithm": "sliding-window", "limit": 100, "windowSeconds": 60 },
      "odd": { "algorithm": "sliding-window", "limit": 100, "windowSeconds": 60, "capacity": 100 },
      "enterprise": { "limits": [
        { "name": "burst", "capacity": 1000, "refillPerSecond": 200 },
        { "name": "daily", "capacity": 1000000, "refill": { "tokens": 1000000, "seconds": 86400 } } ] }
    },
    "clients": { "zed": "pro", "acme": "audit", "\u00e9": "gold" }
  })");
  CHECK(set.default_policy.limits[0].limit == limit("5", "1"));
  CHECK(set.default_policy.limits[0].limit.capacity == 5.0);

  REQUIRE(set.tiers.size() == 5);
  CHECK(set.tiers[0].name == "audit");
  CHECK(set.tiers[1].name == "enterprise");
  CHECK(set.tiers[2].name == "free");
  CHECK(set.tiers[3].name == "odd");
  CHECK(set.tiers[4].name == "pro");
  CHECK_FALSE(set.find("odd")->policy.valid());
  REQUIRE(set.find("audit")->policy.limits.size() == 1);
  CHECK(set.find("audit")->policy.limits[0].name == "main");
  CHECK(set.find("audit")->policy.limits[0].limit == window(Algorithm::sliding_window, "100", "60"));
  const List<NamedLimit>& enterprise = set.find("enterprise")->policy.limits;
  REQUIRE(enterprise.size() == 2);
  CHECK(enterprise[0].name == "burst");
  CHECK(enterprise[0].limit == limit("1000", "200"));
  CHECK(enterprise[1].name == "daily");
  CHECK(enterprise[1].limit == limit("1000000", "1000000", "86400"));
  CHECK(set.find("free")->policy.limits[0].limit == limit("10", "0.1"));
  CHECK(set.find("pro")->policy.limits[0].limit == limit("100.5", "100", "60"));
  CHECK(set.find("gold") == nullptr);
  CHECK(set.find("") == nullptr);
  CHECK(set.find("fre") == nullptr);

  REQUIRE(set.clients.size() == 3);
  CHECK(set.clients[0].client == "zed");
  CHECK(set.clients[0].tier == "pro");
  CHECK(set.clients[1].client == "acme");
  CHECK(set.clients[1].tier == "audit");
  CHECK(set.clients[2].client == "\u00e9");
  CHECK(set.clients[2].tier == "gold");
  CHECK(set.rejected.size() == 2);
}

TEST_CASE("A policy is one limit or several", "[policy_set]") {
  CHECK(limits(R"({"capacity": 5, "refillPerSecond": 1})") == "main: bucket of 5, keep, at-next\n");
  CHECK(limits(R"({"accrual": "prorated", "capacity": 5, "refillPerSecond": 1, "onRaise": "proportional"})") ==
        "main: bucket of 5, proportional, prorated\n");
  CHECK(limits(R"({"algorithm": "token-bucket", "capacity": 5, "refillPerSecond": 1, "onRaise": "add"})") ==
        "main: bucket of 5, add, at-next\n");
  CHECK(limits(R"({"limit": 5, "windowSeconds": 1, "algorithm": "fixed-window"})") ==
        "main: fixed of 5, keep, at-next\n");
  CHECK(limits(R"({"limits": [{"name": "a", "capacity": 5, "refillPerSecond": 1, "onRaise": "fill"}]})") ==
        "a: bucket of 5, fill, at-next\n");

  // In the order of the document, by names that may be written in several ways.
  CHECK(limits(R"({"limits": [{"limit": 7, "name": "z", "algorithm": "sliding-window", "windowSeconds": 1},
                              {"name": "\u0061 ~", "capacity": 5.5, "refillPerSecond": 1, "accrual": "prorated"},
                              {"capacity": 3, "refill": {"tokens": 1, "seconds": 1}, "name": "main"}]})") ==
        "z: sliding of 7, keep, at-next\n"
        "a ~: bucket of 5, keep, prorated\n"
        "main: bucket of 3, keep, at-next\n");

  std::string eight;
  std::string told;
  for (const char name : {'h', 'g', 'f', 'e', 'd', 'c', 'b', 'a'}) {
    eight +=
        std::string(eight.empty() ? "" : ",") + R"({"name": ")" + name + R"(", "capacity": 2, "refillPerSecond": 1})";
    told += std::string(1, name) + ": bucket of 2, keep, at-next\n";
  }
  CHECK(limits("{\"limits\": [" + eight + "]}") == told);
}

TEST_CASE("What stands beside limits counts for those that do not say", "[policy_set]") {
  const std::string bucket = R"("capacity": 5, "refillPerSecond": 1)";
  const std::string expected =
      "a: bucket of 5, fill, prorated\n"
      "b: bucket of 5, add, prorated\n"
      "c: bucket of 5, fill, at-next\n"
      "d: bucket of 5, keep, at-next\n";
  const std::string list = "\"limits\": [{\"name\": \"a\", " + bucket + "}, {\"name\": \"b\", \"onRaise\": \"add\", " +
                           bucket + "}, {\"accrual\": \"at-next\", \"name\": \"c\", " + bucket +
                           "}, {\"name\": \"d\", " + bucket + R"(, "onRaise": "keep", "accrual": "at-next"}])";
  const std::string settings = R"("accrual": "prorated", "onRaise": "fill")";
  CHECK(limits("{" + settings + ", " + list + "}") == expected);
  CHECK(limits("{" + list + ", " + settings + "}") == expected);

  const std::string windows =
      R"("limits": [{"name": "a", "limit": 10001, "windowSeconds": 1},
                    {"name": "b", "limit": 10, "windowSeconds": 1, "algorithm": "sliding-window"},
                    {"name": "c", "algorithm": "token-bucket", "onRaise": "add", )" +
      bucket + "}]";
  const std::string counted =
      "a: fixed of 10001, keep, at-next\n"
      "b: sliding of 10, keep, at-next\n"
      "c: bucket of 5, add, at-next\n";
  CHECK(limits(R"({"algorithm": "fixed-window", )" + windows + "}") == counted);
  CHECK(limits("{" + windows + R"(, "algorithm": "fixed-window"})") == counted);
}

TEST_CASE("A tier of which one limit is invalid has none", "[policy_set]") {
  const PolicySet set = accepted("{" + default_member + R"(, "tiers": {
    "a": {"limits": [{"name": "a", "capacity": 1000000, "refillPerSecond": 0.3333333333333333},
                     {"name": "b", "capacity": 0, "refillPerSecond": 1}]},
    "b": {"limits": [{"name": "a", "capacity": 1000000, "refillPerSecond": 0.3333333333333333}]},
    "c": {"limits": [{"name": "a", "capacity": 1000000, "refillPerSecond": 0.3333333333333333}], "x": 1}}})");
  CHECK_FALSE(set.find("a")->policy.valid());
  REQUIRE(set.find("b")->policy.valid());
  CHECK(limits(set.find("b")->policy) == "a: bucket of 1000000, keep, at-next\n");
  CHECK_FALSE(set.find("c")->policy.valid());
  CHECK(listing(set.rejected) == "invalid-value /tiers/a/limits/1/capacity 3:48\nunknown-member /tiers/c/x 5:98\n");
  CHECK(listing(set.warnings) == "rate-rounded /tiers/b/limits/0/refillPerSecond 4:76\n");
}

TEST_CASE("Equal limits are equal however they are spelled", "[policy_set]") {
  const Limit expected = limit("1000", "0.1");
  for (const std::string policy : {
           R"({"capacity":1000,"refillPerSecond":0.1})",
           R"({"capacity":1e3,"refillPerSecond":1e-1})",
           R"({"capacity":1000.0,"refillPerSecond":0.10})",
           R"({"refill":{"seconds":10,"tokens":1},"capacity":1000})",
           "{\n\t\"refill\" : { \"tokens\" : 0.5e0 , \"seconds\" : 5 },\r\n \"capa\\u0063ity\" : 10E2 }",
       }) {
    CAPTURE(policy);
    CHECK(accepted("{\"default\":" + policy + "}").default_policy.limits[0].limit == expected);
  }
  CHECK(accepted(R"({"default":{"capacity":9007199254740993,"refillPerSecond":0}})")
            .default_policy.limits[0]
            .limit.whole == 9007199254740993);
  CHECK(accepted(R"({"default":{"capacity":1.5,"refillPerSecond":-0}})").default_policy.limits[0].limit.gain == 0);
}

TEST_CASE("Messages name the value and the rule", "[policy_set]") {
  CHECK(message("") == "expected a policy document, found the end of the text");
  CHECK(message("{\n  \"default\": {},\n}") ==
        "expected a member name in double quotes, found }; JSON has no comma after the last member");
  CHECK(message("{// x") == "expected a member name in double quotes, found /; JSON has no comments");
  CHECK(message("{'a': 1}") == "expected a member name in double quotes, found '");
  CHECK(message("{\"a\": 010}") == "expected a number as JSON spells it, found 010");
  CHECK(message("{\"a\": nul}") == "expected a value, found nul");
  CHECK(message("{\"a\": \"\\x\"}") == "expected a character or an escape that JSON has, found \\x");
  CHECK(message("{\"a\": \"\t\"}") == "expected a character or an escape that JSON has, found U+0009");
  CHECK(message(std::string("{}\0", 3)) == "expected nothing after the document, found U+0000");
  CHECK(message("\xEF\xBB\xBF\xEF\xBB\xBF{}") == "expected a value, found a byte order mark");
  CHECK(message("{} \u20ac") == "expected nothing after the document, found \u20ac");
  CHECK(message("\"\xFF\"") == "byte 0xFF begins no character here; the text must be UTF-8");
  CHECK(message("\"\xED\xB2\xA9\"") == "U+DCA9 is half of a surrogate pair; it stands for nothing alone");
  CHECK(message("\"\\uDcA9\"") == "\\uDcA9 is half of a surrogate pair; it stands for nothing alone");
  CHECK(message("{\"a\": 1e400}") == "1e400 is beyond the range of a double");
  CHECK(message("{\"a\": 1,\n\"\\u0061\": 2}") ==
        "\"\\u0061\" is given at 1:2 and again at 2:1; an object has each member once");
  CHECK(message(std::string(33, '[')) == "this is level 33 of nesting; 32 are allowed");
  CHECK(message("[]") == "the document is an array; it must be an object");
  CHECK(message("{\"tiers\": 5, " + default_member + "}") == "tiers is 5; it must be an object");
  CHECK(message("{\"tier\": {}}") ==
        "\"tier\" is not a member of a policy document, which has default, tiers and clients");
  CHECK(message("{}") == "default is missing; a policy document must have it");
  CHECK(message("{" + default_member + R"(, "clients": {"acme": 5}})") == "a client's tier is 5; it must be a string");
  CHECK(message("{" + default_member + R"(, "clients": {"acme": "gold"}})") ==
        "\"acme\" is assigned to \"gold\", a tier that is not there");

  CHECK(tier_message("null") == "a policy is null; it must be an object");
  CHECK(tier_message(R"({"capacity": 0.5, "refillPerSecond": 1})") == "capacity is 0.5; it must be at least 1");
  CHECK(tier_message(R"({"capacity": 1, "refillPerSecond": -1e-3})") ==
        "refillPerSecond is -1e-3; it must be at least 0");
  CHECK(tier_message(R"({"capacity": 1, "refill": {"tokens": 1, "seconds": 0}})") ==
        "seconds is 0; it must be more than 0");
  CHECK(tier_message(R"({"capacity": "a very long string indeed, longer than is shown"})") ==
        "capacity is \"a very long string indeed, longer than ...; it must be a number");
  CHECK(tier_message(R"({"capacity": 1})") == "refillPerSecond is missing; a token bucket must have it or refill");
  CHECK(tier_message(R"({"capacity": 1, "refill": {"seconds": 1}})") == "tokens is missing; a refill must have it");
  CHECK(tier_message(R"({"capacity": 1e300, "refill": {"tokens": 7, "seconds": 2}})") ==
        "capacity 1e300 and a refill of 7 tokens in 2 seconds do not fit the exact arithmetic together");
  CHECK(tier_message(R"({"capacity": 1e300, "refillPerSecond": 7})") ==
        "capacity 1e300 and refillPerSecond 7 do not fit the exact arithmetic together");
  CHECK(tier_message(R"({"capacity": 1, "refillPerSecond": 1, "limit": 1})") ==
        "limit means nothing without the algorithm sliding-window or fixed-window");
  CHECK(tier_message(R"({"algorithm": "leaky"})") ==
        "algorithm is \"leaky\"; it must be token-bucket, sliding-window or fixed-window");
  CHECK(tier_message(R"({"capacity": 1, "refillPerSecond": 1, "onStoreError": "allow"})") ==
        "onStoreError is \"allow\", which this version does not support");
  CHECK(tier_message(R"({"refillPerSecond": 1})") == "capacity is missing; a token bucket must have it");
  CHECK(tier_message(R"({"capcity": 1})") ==
        "\"capcity\" is not a member of a tier, which has capacity and refillPerSecond or refill, limit and "
        "windowSeconds, or limits");

  const auto window_message = [](const std::string& members) {
    return tier_message(R"({"algorithm": "sliding-window", )" + members + "}");
  };
  CHECK(window_message(R"("windowSeconds": 1)") == "limit is missing; a window must have it");
  CHECK(window_message(R"("limit": 1)") == "windowSeconds is missing; a window must have it");
  CHECK(window_message(R"("limit": 10001, "windowSeconds": 1)") ==
        "limit is 10001; it must be a whole number from 1 to 10000");
  CHECK(tier_message(R"({"algorithm": "fixed-window", "limit": 1.5, "windowSeconds": 1})") ==
        "limit is 1.5; it must be a whole number from 1 to 9007199254740991");
  CHECK(window_message(R"("limit": 1, "windowSeconds": 1e-7)") ==
        "windowSeconds is 1e-7; it must be whole microseconds, more than 0 and at most 500000000 seconds");
  CHECK(window_message(R"("limit": 1, "windowSeconds": "1")") == "windowSeconds is \"1\"; it must be a number");
  CHECK(window_message(R"("capacity": 1)") ==
        "capacity means nothing with the algorithm sliding-window or fixed-window");
  CHECK(window_message(R"("onRaise": "keep")") ==
        "onRaise means nothing with the algorithm sliding-window or fixed-window");

  CHECK(tier_message(R"({"limits": {}})") == "limits is an object; it must be an array");
  CHECK(tier_message(R"({"limits": []})") == "limits has 0 elements; it must have 1 to 8");
  CHECK(tier_message(R"({"limits": [1,2,3,4,5,6,7,8,9]})") == "limits has 9 elements; it must have 1 to 8");
  CHECK(tier_message(R"({"capacity": 1, "limits": []})") ==
        "capacity and limits are both given; a tier must have only one of them");
  CHECK(tier_message(R"({"limits": [true]})") == "a limit is true; it must be an object");
  const auto limit_message = [](const std::string& members) {
    return tier_message(R"({"limits": [{"name": "a", "capacity": 1, "refillPerSecond": 1}, {)" + members +
                        R"(, "capacity": 1, "refillPerSecond": 1}]})");
  };
  CHECK(limit_message(R"("accrual": "prorated")") == "name is missing; each of several limits must have it");
  CHECK(limit_message(R"("name": 1)") == "name is 1; it must be a string");
  CHECK(limit_message(R"("name": "\u00e9")") == "name is \"\\u00e9\"; it must be 1 to 64 printable ASCII characters");
  CHECK(limit_message(R"("name": "\u0061")") ==
        "name is \"\\u0061\", as that of an earlier limit; each must have its own");
  CHECK(
      limit_message(R"("name": "b", "limits": [])") ==
      "\"limits\" is not a member of a limit, which has name, and capacity and refillPerSecond or refill, or limit and "
      "windowSeconds");

  const auto warning = [](std::string_view text) { return std::string(accepted(text).warnings[0].message); };
  CHECK(warning(R"({"default": {"capacity": 1000000, "refillPerSecond": 0.3333333333333333}})") ==
        "refillPerSecond is 0.3333333333333333, which does not fit exactly; it is rounded");
  CHECK(warning(R"({"default": {"capacity": 1000000, "refill": {"tokens": 0.3333333333333333, "seconds": 1.0}}})") ==
        "refill is 0.3333333333333333 tokens in 1.0 seconds, which does not fit exactly; it is rounded");
  CHECK(warning(R"({"default": {"capacity": 1.00000000000000000000000001, "refillPerSecond": 1}})") ==
        "capacity is 1.00000000000000000000000001, which does not fit exactly; it is rounded");
}

TEST_CASE("Every prefix of a document is refused with a place in it", "[policy_set]") {
  const std::string text =
      "\xEF\xBB\xBF{\r\n" + default_member +
      R"(, "tiers": {"a\ud83d\ude00": {"capacity": 1.5e0, "refill": {"tokens": 7, "seconds": 604800}},)"
      "\n\"\u20ac\": {\"limits\": [true, false, null, -0.1]}}, \"clients\": {\"acme\": \"\u20ac\"}}";
  REQUIRE(PolicySet::from_json(text).ok());
  for (std::size_t size = 0; size < text.size(); ++size) {
    const Loaded loaded = PolicySet::from_json(std::string_view(text).substr(0, size));
    CAPTURE(size);
    REQUIRE_FALSE(loaded.ok());
    REQUIRE(loaded.error().size() == 1);
    const ErrorCode code = loaded.error()[0].code;
    CHECK((code == ErrorCode::syntax || code == ErrorCode::invalid_utf8 || code == ErrorCode::lone_surrogate));
    CHECK(loaded.error()[0].line >= 1);
    CHECK(loaded.error()[0].line <= 3);
    CHECK(loaded.error()[0].column >= 1);
  }
}

TEST_CASE("Every change of one byte gives a result or errors", "[policy_set]") {
  const std::string text =
      R"({"default":{"capacity":5,"refillPerSecond":1},"tiers":{"\u0061":{"capacity":1.5,)"
      R"("refill":{"tokens":7,"seconds":60}},"b":{"onRaise":"add","limits":[{"name":"a","capacity":2,)"
      R"("refillPerSecond":1},{"name":"b","algorithm":"token-bucket","capacity":1,"refillPerSecond":3}]},)"
      R"("c":{"algorithm":"fixed-window","limit":9,"windowSeconds":1.5}},"clients":{"x":"a"}})";
  std::size_t results = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[at] = static_cast<char>(byte);
      const Loaded loaded = PolicySet::from_json(changed);
      if (loaded.ok()) {
        ++results;
        continue;
      }
      if (loaded.error().empty()) FAIL("refused without a reason: " << changed);
      for (const Error& error : loaded.error()) {
        if (error.message.empty() || error.line == 0 || error.column == 0 || error.column > text.size() + 1) {
          FAIL("an error without a place: " << changed);
        }
      }
    }
  }
  CHECK(results > text.size());
}

TEST_CASE("Five megabytes are read", "[policy_set]") {
  std::string text = long_document(20'000, 150'000);
  REQUIRE(text.size() > 5'000'000);
  const PolicySet set = accepted(text);
  CHECK(set.tiers.size() == 20'000);
  CHECK(set.clients.size() == 150'000);
  CHECK(set.rejected.empty());
  CHECK(set.find("tier-19999")->policy.limits[0].limit == limit("20000", "0.25", "3600"));
  REQUIRE(set.find("tier-19998")->policy.limits.size() == 3);
  CHECK(set.find("tier-19998")->policy.limits[0].limit == limit("19999", "0.25", "3600"));
  CHECK(set.find("tier-19998")->policy.limits[2].limit == window(Algorithm::fixed_window, "10", "60"));

  // And refused at their end.
  text.resize(text.size() - 2);
  text += ",}\n";
  const Loaded loaded = PolicySet::from_json(text);
  REQUIRE_FALSE(loaded.ok());
  CHECK(loaded.error()[0].line == 170'004);
}

TEST_CASE("Very many faults are all listed", "[policy_set]") {
  std::string text = "{" + default_member + ",\n\"clients\": {";
  for (int i = 0; i < 100'000; ++i) text += (i == 0 ? "\n\"c" : ",\n\"c") + std::to_string(i) + "\": \"gold\"";
  const PolicySet set = accepted(text + "}}");
  REQUIRE(set.rejected.size() == 100'000);
  CHECK(set.rejected[99'999].path == "/clients/c99999");
  CHECK(set.rejected[99'999].line == 100'002);
}

TEST_CASE("Reports too large to be of use are a lack of memory", "[policy_set]") {
  std::string text = "{" + default_member + ", \"tiers\": {\"" + std::string(1 << 20, 'n') + "\": {";
  for (int i = 0; i < 300; ++i) text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\": 0";
  const Loaded loaded = PolicySet::from_json(text + "}}}");
  REQUIRE_FALSE(loaded.ok());
  CHECK(listing(loaded.error()) == "out-of-memory  0:0\n");
}

#ifdef __GLIBC__
TEST_CASE("Memory that cannot be had is an error", "[policy_set]") {
  const std::string sound = long_document(4'000, 40'000);
  std::string faulty = sound;
  for (std::size_t at = faulty.find("clients"); (at = faulty.find("\"tier-", at)) != std::string::npos;) {
    faulty[at + 1] = 'T';
  }
  const auto in_use = [] {
    std::ifstream file("/proc/self/statm");
    rlim_t pages = 0;
    file >> pages;
    return pages * 4096;
  };
  // AddressSanitizer reserves terabytes, of which no shortage can be made.
  if (in_use() > rlim_t{1} << 40) return;

  // What other tests have left free would be enough, whatever the bound is.
  std::vector<std::unique_ptr<char[]>> filled;
  for (const void* const end = sbrk(0); sbrk(0) == end && filled.size() < 4096;)
    filled.emplace_back(new char[64 << 10]);

  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  std::set<bool> outcomes;
  for (const std::string& text : {sound, faulty}) {
    for (rlim_t more = 1 << 20; more < 40 << 20; more += 3 << 20) {
      malloc_trim(0);
      rlimit tight = before;
      tight.rlim_cur = in_use() + more;
      setrlimit(RLIMIT_AS, &tight);
      bool fits = true;
      {
        const Loaded loaded = PolicySet::from_json(text);
        fits = loaded.ok() || loaded.error()[0].code != ErrorCode::out_of_memory;
      }
      setrlimit(RLIMIT_AS, &before);
      outcomes.insert(fits);
    }
  }
  CHECK(outcomes == std::set<bool>{false, true});
}
#endif
