// SPDX-License-Identifier: MIT
#include "tierlimit/tier_directory.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "catch.hpp"
#include "random.hpp"

using tierlimit::Assignments;
using tierlimit::Fallback;
using tierlimit::Fingerprint;
using tierlimit::Secret;
using tierlimit::TierDirectory;
using tierlimit::TierEntry;
using tierlimit::TierId;

namespace {

constexpr Secret secret = {0x0123456789abcdef, 0xfedcba9876543210};

Fingerprint client(std::string_view name) { return Fingerprint::of(secret, name); }

// The name of the tier that a client is assigned to, or a dash.
std::string tier_of(const TierDirectory& directory, std::string_view name) {
  const auto tier = directory.assigned(client(name));
  return tier ? std::string(directory[*tier].name) : "-";
}

// Takes assignments as the limiter takes them from a document.
void load(TierDirectory& directory, const std::map<std::string, std::string>& clients, bool seeded = true) {
  Assignments assignments;
  if (seeded) assignments.seed(secret, [](TierId) { FAIL("nothing was noted down"); });
  for (const auto& [name, tier] : clients) assignments.set(name, directory.acquire(tier));
  directory.replace_document(assignments);
}

void assign(TierDirectory& directory, std::string_view name, std::optional<std::string_view> tier) {
  directory.assign(name, tier ? std::optional{directory.acquire(*tier)} : std::nullopt);
}

}  // namespace

TEST_CASE("tier directory: a name has a number as long as somebody uses it") {
  TierDirectory directory;
  CHECK_FALSE(directory.find("pro").has_value());
  const TierId pro = directory.acquire("pro");
  const TierId free = directory.acquire("free");
  CHECK(pro != free);
  CHECK(directory.acquire("pro") == pro);
  CHECK(directory[pro].name == "pro");
  CHECK(directory[pro].users == 2);
  CHECK(directory[pro].fallback == Fallback::unknown_tier);

  directory.release(pro);
  CHECK(directory.find("pro") == pro);
  directory[pro].judge = 7;
  directory[pro].fallback = Fallback::none;
  directory.release(pro);
  CHECK_FALSE(directory.find("pro").has_value());
  CHECK(directory.find("free") == free);

  // The number is free for another name, which knows nothing of the one before.
  const TierId enterprise = directory.acquire("enterprise");
  CHECK(enterprise == pro);
  CHECK(directory[enterprise].name == "enterprise");
  CHECK(directory[enterprise].users == 1);
  CHECK(directory[enterprise].judge == 0);
  CHECK(directory[enterprise].fallback == Fallback::unknown_tier);
  CHECK(directory.acquire("pro") != enterprise);
}

TEST_CASE("tier directory: a name may be any bytes") {
  using namespace std::string_view_literals;
  TierDirectory directory;
  std::set<TierId> numbers;
  const auto names = {""sv, "\0"sv, "constructor"sv, "__proto__"sv, "\xff"sv, "pro"sv, "Pro"sv, "pro "sv};
  for (const auto name : names) numbers.insert(directory.acquire(name));
  CHECK(numbers.size() == names.size());
  for (const auto name : names) CHECK(directory[*directory.find(name)].name == name);
}

TEST_CASE("tier directory: an assignment made while running beats the document's") {
  TierDirectory directory;
  directory.seed(secret);
  load(directory, {{"acme", "pro"}, {"umbrella", "free"}});
  CHECK(tier_of(directory, "acme") == "pro");
  CHECK(tier_of(directory, "nobody") == "-");
  CHECK(directory.assignments() == 0);

  assign(directory, "acme", "enterprise");
  CHECK(tier_of(directory, "acme") == "enterprise");
  CHECK(tier_of(directory, "umbrella") == "free");
  CHECK(directory.assignments() == 1);
  assign(directory, "acme", "trial");
  CHECK(tier_of(directory, "acme") == "trial");
  CHECK(directory.assignments() == 1);
  CHECK_FALSE(directory.find("enterprise").has_value());

  SECTION("taken back, the document's holds again") {
    assign(directory, "acme", std::nullopt);
    CHECK(tier_of(directory, "acme") == "pro");
    CHECK(directory.assignments() == 0);
    CHECK_FALSE(directory.find("trial").has_value());
    assign(directory, "acme", std::nullopt);
    CHECK(tier_of(directory, "acme") == "pro");
  }
  SECTION("it outlives the document") {
    load(directory, {});
    CHECK(tier_of(directory, "acme") == "trial");
    CHECK(tier_of(directory, "umbrella") == "-");
    CHECK_FALSE(directory.find("free").has_value());
    CHECK_FALSE(directory.find("pro").has_value());
    assign(directory, "acme", std::nullopt);
    CHECK(tier_of(directory, "acme") == "-");
  }
}

TEST_CASE("tier directory: the same client and tier once more counts once") {
  TierDirectory directory;
  directory.seed(secret);
  for (int i = 0; i < 3; ++i) assign(directory, "acme", "pro");
  CHECK(directory[*directory.find("pro")].users == 1);
  CHECK(directory.assignments() == 1);
  assign(directory, "acme", std::nullopt);
  CHECK_FALSE(directory.find("pro").has_value());
}

TEST_CASE("tier directory: assignments made before there is a secret hold afterwards") {
  TierDirectory directory;
  load(directory, {{"acme", "pro"}, {"umbrella", "free"}}, false);
  assign(directory, "acme", "enterprise");
  assign(directory, "initech", "pro");
  assign(directory, "initech", "free");
  assign(directory, "hooli", "pro");
  assign(directory, "hooli", std::nullopt);
  CHECK(directory.assignments() == 2);
  directory.seed(secret);
  CHECK(directory.assignments() == 2);
  CHECK(tier_of(directory, "acme") == "enterprise");
  CHECK(tier_of(directory, "umbrella") == "free");
  CHECK(tier_of(directory, "initech") == "free");
  CHECK(tier_of(directory, "hooli") == "-");

  assign(directory, "acme", std::nullopt);
  CHECK(tier_of(directory, "acme") == "pro");
  assign(directory, "initech", std::nullopt);
  CHECK(tier_of(directory, "initech") == "-");
  CHECK(directory.assignments() == 0);
}

TEST_CASE("tier directory: visits the names in use") {
  TierDirectory directory;
  const TierId gone = directory.acquire("gone");
  directory.acquire("pro");
  assign(directory, "acme", "free");
  directory.release(gone);
  std::set<std::string> seen;
  directory.each([&](TierEntry& entry) { CHECK(seen.insert(std::string(entry.name)).second); });
  CHECK(seen == std::set<std::string>{"free", "pro"});
}

TEST_CASE("tier directory: counts users through any changes") {
  Random random(1);
  TierDirectory directory;
  std::map<std::string, std::string> running;
  std::map<std::string, std::string> in_document;
  const auto name = [&](char letter, std::uint64_t count) { return letter + std::to_string(random.below(count)); };
  bool seeded = false;
  for (int i = 0; i < 20'000; ++i) {
    if (i == 500) {
      directory.seed(secret);
      seeded = true;
    }
    if (random.chance(50)) {
      std::map<std::string, std::string> clients;
      for (auto count = random.below(8); count > 0; --count) clients[name('c', 10)] = name('t', 12);
      load(directory, clients, seeded);
      in_document = clients;
    } else if (random.chance(3)) {
      const std::string who = name('c', 10);
      assign(directory, who, std::nullopt);
      running.erase(who);
    } else {
      const std::string who = name('c', 10);
      const std::string tier = name('t', 12);
      assign(directory, who, tier);
      running[who] = tier;
    }

    REQUIRE(directory.assignments() == running.size());
    if (!seeded) continue;  // until then a tier is used by whatever was noted down

    std::map<std::string, std::uint32_t> users;
    for (const auto* assignments : {&running, &in_document}) {
      for (const auto& [who, tier] : *assignments) ++users[tier];
    }
    for (int t = 0; t < 12; ++t) {
      const std::string tier = 't' + std::to_string(t);
      const auto number = directory.find(tier);
      REQUIRE(number.has_value() == (users.count(tier) != 0));
      if (!number) continue;
      REQUIRE(*number < 12);  // numbers are taken up again
      REQUIRE(directory[*number].name == tier);
      REQUIRE(directory[*number].users == users[tier]);
    }
    for (int c = 0; c < 10; ++c) {
      const std::string who = 'c' + std::to_string(c);
      const auto first = running.count(who) != 0       ? running.at(who)
                         : in_document.count(who) != 0 ? in_document.at(who)
                                                       : "-";
      REQUIRE(tier_of(directory, who) == first);
    }
  }
}
