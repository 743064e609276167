// SPDX-License-Identifier: MIT
/// \file
/// Policy documents as values, for the reference, and as text, for the limiter.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tierlimit/policy.hpp"

namespace documents {

using tierlimit::Algorithm;
using tierlimit::OnRaise;

/// A limit by the numbers that stand in the text.
struct Limit {
  std::string name = "main";
  Algorithm algorithm = Algorithm::token_bucket;
  std::int64_t halves = 2;  ///< Capacity of a token bucket, in half tokens.
  std::int64_t rate = 0;    ///< Tokens per second.
  std::int64_t tokens = 1;  ///< Of a window.
  std::int64_t micros = 1;  ///< Its length.
  OnRaise on_raise = OnRaise::keep;
  bool prorated = false;
};

inline Limit bucket(std::string name, std::int64_t halves, std::int64_t rate, OnRaise on_raise = OnRaise::keep,
                    bool prorated = false) {
  return {std::move(name), Algorithm::token_bucket, halves, rate, 1, 1, on_raise, prorated};
}
inline Limit sliding(std::string name, std::int64_t tokens, std::int64_t micros) {
  return {std::move(name), Algorithm::sliding_window, 2, 0, tokens, micros, OnRaise::keep, false};
}
inline Limit fixed(std::string name, std::int64_t tokens, std::int64_t micros) {
  return {std::move(name), Algorithm::fixed_window, 2, 0, tokens, micros, OnRaise::keep, false};
}

struct Document {
  std::vector<Limit> otherwise;                     ///< The default.
  std::map<std::string, std::vector<Limit>> tiers;  ///< One without limits is invalid.
  std::map<std::string, std::string> clients;
};

inline std::string decimal(std::int64_t whole, std::int64_t fraction, std::size_t digits) {
  std::string text = std::to_string(fraction);
  text.insert(0, digits - text.size(), '0');
  return std::to_string(whole) + "." + text;
}

inline std::string text_of(const Limit& limit) {
  std::string text = R"({"name": ")" + limit.name + '"';
  if (limit.algorithm == Algorithm::token_bucket) {
    constexpr const char* raises[] = {"keep", "fill", "proportional", "add"};
    text += R"(, "capacity": )" + decimal(limit.halves / 2, limit.halves % 2 * 5, 1);
    text += R"(, "refillPerSecond": )" + std::to_string(limit.rate);
    text += R"(, "onRaise": ")" + std::string(raises[static_cast<int>(limit.on_raise)]) + '"';
    if (limit.prorated) text += R"(, "accrual": "prorated")";
  } else {
    text += limit.algorithm == Algorithm::sliding_window ? R"(, "algorithm": "sliding-window")"
                                                         : R"(, "algorithm": "fixed-window")";
    text += R"(, "limit": )" + std::to_string(limit.tokens);
    text += R"(, "windowSeconds": )" + decimal(limit.micros / 1'000'000, limit.micros % 1'000'000, 6);
  }
  return text + '}';
}

inline std::string text_of(const std::vector<Limit>& limits) {
  std::string text = R"({"limits": [)";
  for (const Limit& limit : limits) text += (text.back() == '[' ? "" : ", ") + text_of(limit);
  return text + "]}";
}

inline std::string text_of(const Document& document) {
  std::string text = R"({"default": )" + text_of(document.otherwise) + R"(, "tiers": {)";
  for (const auto& [name, limits] : document.tiers) {
    text += (text.back() == '{' ? "\"" : ", \"") + name + "\": " + text_of(limits);
  }
  text += R"(}, "clients": {)";
  for (const auto& [name, tier] : document.clients) {
    text += (text.back() == '{' ? "\"" : ", \"") + name + R"(": ")" + tier + '"';
  }
  return text + "}}";
}

constexpr std::int64_t second = 1'000'000;

/// What the reference knows: every algorithm, every onRaise, shared names, units that do not divide one another.
inline const std::vector<Document>& compared() {
  static const std::vector<Document> all{
      {{bucket("main", 10, 1)},
       {{"a", {bucket("main", 20, 3)}},
        {"b", {bucket("main", 8, 2), sliding("burst", 3, second), fixed("day", 9, 60 * second)}},
        {"c", {fixed("main", 4, 10 * second)}}},
       {{"acme", "a"}, {"initech", "nowhere"}}},
      {{bucket("main", 7, 0, OnRaise::fill)},
       {{"a", {bucket("main", 41, 7, OnRaise::proportional)}},
        {"b", {sliding("burst", 5, 3 * second), bucket("main", 30, 2, OnRaise::add)}},
        {"c", {fixed("main", 7, 3 * second), bucket("other", 2, 1, OnRaise::fill)}}},
       {{"acme", "b"}, {"umbrella", "c"}}},
      {{bucket("main", 31, 3, OnRaise::add), sliding("burst", 2, second / 3)},
       {{"a", {bucket("main", 60, 1, OnRaise::fill)}},
        {"b", {sliding("burst", 9, 10 * second), fixed("day", 12, 30 * second)}},
        {"c", {}}},
       {{"acme", "c"}}},
      {{bucket("main", 2, 1'000'000)},
       {{"a", {bucket("main", 1'000'000, 0, OnRaise::add)}},
        {"b", {bucket("main", 3, 5, OnRaise::proportional), bucket("other", 9, 1, OnRaise::proportional)}},
        {"c", {sliding("main", 4, 2 * second)}}},
       {{"globex", "a"}}},
      {{sliding("main", 6, 5 * second)}, {{"a", {bucket("main", 12, 1)}}, {"b", {fixed("day", 3, 1)}}}, {}},
  };
  return all;
}

/// What it does not: accrual in parts. The clients have the same tiers throughout.
inline const std::vector<Document>& prorated() {
  static const std::map<std::string, std::string> clients{{"acme", "a"}, {"initech", "nowhere"}, {"umbrella", "c"}};
  static const std::vector<Document> all{
      {{bucket("main", 10, 1, OnRaise::keep, true)},
       {{"a", {bucket("main", 20, 3, OnRaise::fill, true)}},
        {"b", {bucket("main", 9, 2, OnRaise::add), sliding("burst", 3, second)}},
        {"c", {fixed("main", 4, 10 * second), bucket("other", 5, 1, OnRaise::proportional, true)}}},
       clients},
      {{bucket("main", 7, 0, OnRaise::proportional, true)},
       {{"a", {bucket("main", 41, 7, OnRaise::proportional)}},
        {"b", {sliding("burst", 5, 3 * second), bucket("main", 30, 5, OnRaise::add, true)}},
        {"c", {bucket("other", 9, 0, OnRaise::fill, true), bucket("main", 5, 2)}}},
       clients},
      {{bucket("main", 16, 1)},
       {{"a", {bucket("main", 2, 9)}},
        {"b", {sliding("burst", 9, 10 * second), bucket("other", 4, 1)}},
        {"c", {sliding("burst", 9, 10 * second)}}},
       clients},
  };
  return all;
}

}  // namespace documents
