// SPDX-License-Identifier: MIT
// What a flood of new names may and may not do: to those who are known, to memory, and to how much work a call is.
// Work is counted and never timed.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catch.hpp"
#include "random.hpp"
#include "tierlimit/bucket_table.hpp"
#include "tierlimit/limiter.hpp"

using tierlimit::BucketTable;
using tierlimit::Decision;
using tierlimit::Fingerprint;
using tierlimit::FingerprintTable;
using tierlimit::LimiterOptions;
using tierlimit::LimiterStats;
using tierlimit::Reason;
using tierlimit::Secret;
using tierlimit::Slot;
using tierlimit::TierLimiter;
using OnFull = tierlimit::LimiterOptions::OnFull;

// ---- Memory that can be refused ------------------------------------------------------------------------------------

namespace {

bool memory_refused = false;
int wishes = 0;  // for segments, while memory is refused

// For as long as it lives.
struct NoMemory {
  NoMemory() {
    memory_refused = true;
    wishes = 0;
  }
  ~NoMemory() { memory_refused = false; }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace

// In place of the C library's, in this program: segments are all that asks for memory by it.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t size) {
  if (memory_refused) {
    ++wishes;
    return nullptr;
  }
  void* block = nullptr;
  return posix_memalign(&block, alignment, size) == 0 ? block : nullptr;
}

namespace {

constexpr std::int64_t second = 1'000'000;
constexpr Secret secret = {0x0123456789abcdef, 0xfedcba9876543210};
constexpr Secret other_secret = {0x0f1e2d3c4b5a6978, 0x8796a5b4c3d2e1f0};

std::string name(std::string_view what, std::uint32_t i) { return std::string(what) + ' ' + std::to_string(i); }

// ---- Slots that count what is done with them -----------------------------------------------------------------------

// Work since the last `begin`: slots looked at and clients moved, each once.
struct Work {
  std::uint32_t operation = 0;
  std::uint32_t looked = 0;
  std::uint32_t moved = 0;

  void begin() {
    ++operation;
    looked = 0;
    moved = 0;
  }
};
Work work;

// A fingerprint in a slot: to read it is to look at the slot.
class WatchedClient {
 public:
  WatchedClient& operator=(const Fingerprint& client) {
    client_ = client;
    return *this;
  }
  operator const Fingerprint&() const {
    look();
    return client_;
  }
  friend bool operator==(const WatchedClient& watched, const Fingerprint& client) {
    return static_cast<const Fingerprint&>(watched) == client;
  }
  void look() const {
    work.looked += looked_at_ == work.operation ? 0 : 1;
    looked_at_ = work.operation;
  }

 private:
  Fingerprint client_;
  mutable std::uint32_t looked_at_ = 0;
};

struct WatchedSlot {
  WatchedClient client;
  std::uint32_t taken = 0;
  std::uint32_t moved_at = 0;

  WatchedSlot() = default;
  WatchedSlot(const WatchedSlot&) = default;
  WatchedSlot& operator=(const WatchedSlot& other) {
    client = other.client;
    taken = other.taken;
    moved_at = other.moved_at;
    if (taken != 0 && moved_at != work.operation) {
      ++work.moved;
      moved_at = work.operation;
    }
    return *this;
  }
  ~WatchedSlot() = default;

  [[nodiscard]] bool used() const {
    client.look();
    return taken != 0;
  }
};

using WatchedTable = FingerprintTable<WatchedSlot>;

bool add(WatchedTable& table, const Fingerprint& client) {
  WatchedSlot* const slot = table.insert(client);
  if (slot == nullptr) return false;
  slot->taken = 1;
  return true;
}

// The most and the sum of what operations took.
struct Tally {
  std::uint64_t sum = 0;
  std::uint32_t most = 0;
  std::uint32_t count = 0;

  void add(std::uint32_t value) {
    sum += value;
    most = std::max(most, value);
    ++count;
  }
  [[nodiscard]] double mean() const { return static_cast<double>(sum) / count; }
};

// Slots looked at by operations on a table that so many clients are put into.
struct Cost {
  Tally insert;
  Tally find;
  Tally miss;
};

Cost cost_of(const std::vector<Fingerprint>& clients, const std::vector<Fingerprint>& strangers) {
  WatchedTable table;
  Cost cost;
  std::vector<Fingerprint> known;
  for (const Fingerprint& client : clients) {
    work.begin();
    if (add(table, client)) known.push_back(client);
    cost.insert.add(work.looked);
  }
  for (const Fingerprint& client : known) {
    work.begin();
    if (table.find(client) == nullptr) FAIL("a client is lost");
    cost.find.add(work.looked);
  }
  for (const Fingerprint& client : strangers) {
    work.begin();
    if (table.find(client) != nullptr) FAIL("a stranger is found");
    cost.miss.add(work.looked);
  }
  return cost;
}

// ---- Names that fall together --------------------------------------------------------------------------------------

constexpr std::uint32_t flood_size = 20'000;

std::vector<Fingerprint> fingerprints(const Secret& key, const std::vector<std::string>& names) {
  std::vector<Fingerprint> all;
  for (const std::string& each : names) all.push_back(Fingerprint::of(key, each));
  return all;
}

std::vector<std::string> names_like(std::string_view what) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < flood_size; ++i) names.push_back(name(what, i));
  return names;
}

// Names of one or the other of two blocks at each of 15 places.
std::vector<std::string> names_of_blocks(const std::array<std::array<const char*, 2>, 15>& blocks) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < flood_size; ++i) {
    std::string each;
    for (std::uint32_t place = 0; place < blocks.size(); ++place) each += blocks[place][i >> place & 1];
    names.push_back(each);
  }
  return names;
}

// Java's String.hashCode, also that of many tables in C: 31 times what is before, plus the next.
std::uint32_t times_31(std::string_view text) {
  std::uint32_t hash = 0;
  for (const char each : text) hash = hash * 31 + static_cast<unsigned char>(each);
  return hash;
}

std::uint32_t fnv_1a(std::string_view text) {
  std::uint32_t hash = 0x811c9dc5;
  for (const char each : text) hash = (hash ^ static_cast<unsigned char>(each)) * 0x01000193;
  return hash;
}

std::vector<std::string> names_alike_times_31() {
  std::array<std::array<const char*, 2>, 15> blocks{};
  blocks.fill({"Aa", "BB"});
  return names_of_blocks(blocks);
}

// Found one after the other, each pair from the hash that the pairs before it come to.
std::vector<std::string> names_alike_fnv_1a() {
  return names_of_blocks({{{"h9yO", "THGD"},
                           {"Jrqg", "2TYU"},
                           {"I2Pd", "eEtc"},
                           {"qGYE", "9YqW"},
                           {"jdMG", "8Ilk"},
                           {"C6Vw", "gA2L"},
                           {"ZOtq", "f8pv"},
                           {"N4Zp", "jM2i"},
                           {"o5MU", "9vra"},
                           {"adNA", "3Cim"},
                           {"0Knl", "NrOx"},
                           {"62CL", "dUhP"},
                           {"rIte", "V6pb"},
                           {"F1ob", "jByk"},
                           {"zuiO", "2wa1"}}});
}

// Whoever knows the secret finds names whose search begins at one slot of every segment.
std::vector<std::string> names_alike_under(const Secret& known) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; names.size() < flood_size; ++i) {
    std::string each = name("c", i);
    if ((Fingerprint::of(known, each).b & 0xff) == 0) names.push_back(std::move(each));
  }
  return names;
}

}  // namespace

TEST_CASE(
    "flood: names that fall together under a hash without a secret, or under another secret, cost what any cost") {
  const std::vector<std::string> strangers = names_like("stranger");
  const Cost random = cost_of(fingerprints(secret, names_like("client")), fingerprints(secret, strangers));
  // That a call looks at few slots holds for random names in the first place.
  CHECK(random.find.mean() < 8);
  CHECK(random.miss.mean() < 32);
  CHECK(random.insert.mean() < 32);

  struct Attack {
    const char* what;
    std::vector<std::string> names;
    // The table's work if it were what the names were made for.
    std::vector<Fingerprint> as_meant;
  };
  const auto unkeyed = [](const std::vector<std::string>& names, std::uint32_t (*hash)(std::string_view)) {
    std::vector<Fingerprint> all;
    for (std::uint32_t i = 0; i < names.size(); ++i) all.push_back({hash(names[i]), hash(names[i]), i});
    return all;
  };
  std::vector<Attack> attacks = {{"31 times the hash before", names_alike_times_31(), {}},
                                 {"FNV-1a", names_alike_fnv_1a(), {}},
                                 {"another secret", names_alike_under(other_secret), {}}};
  attacks[0].as_meant = unkeyed(attacks[0].names, times_31);
  attacks[1].as_meant = unkeyed(attacks[1].names, fnv_1a);
  attacks[2].as_meant = fingerprints(other_secret, attacks[2].names);
  for (const Attack& attack : attacks) {
    CAPTURE(attack.what);
    REQUIRE(std::set<std::string>(attack.names.begin(), attack.names.end()).size() == flood_size);
    if (attack.as_meant[0].c == 0) {
      for (const Fingerprint& each : attack.as_meant) REQUIRE(each.a == attack.as_meant[0].a);
    }
    const Cost cost = cost_of(fingerprints(secret, attack.names), fingerprints(secret, strangers));
    CAPTURE(cost.insert.mean(), cost.find.mean(), cost.miss.mean(), cost.find.most, cost.miss.most);
    CAPTURE(random.insert.mean(), random.find.mean(), random.miss.mean(), random.find.most, random.miss.most);
    CHECK(cost.find.count == flood_size);
    CHECK(cost.insert.mean() <= 3 * random.insert.mean());
    CHECK(cost.find.mean() <= 3 * random.find.mean());
    CHECK(cost.miss.mean() <= 3 * random.miss.mean());
    CHECK(cost.insert.most <= 3 * random.insert.most);
    CHECK(cost.find.most <= 3 * random.find.most);
    CHECK(cost.miss.most <= 3 * random.miss.most);

    // The names do what they were made for where they can: else the above would say nothing.
    const Cost meant = cost_of(attack.as_meant, {});
    CHECK(meant.find.mean() > 30 * random.find.mean());
  }
}

TEST_CASE("flood: no single insertion moves more than one segment, however many there are") {
  constexpr std::uint32_t segment = 512;
  constexpr std::uint32_t most_in_segment = segment / 16 * 13;
  WatchedTable table;
  Tally moved;
  std::uint32_t splits = 0;
  for (std::uint32_t i = 0; i < 300'000; ++i) {
    const Fingerprint client = Fingerprint::of(secret, name("client", i));
    work.begin();
    if (!add(table, client)) FAIL("there is memory");
    moved.add(work.moved);
    if (work.moved > 0) ++splits;
    // The old segment and the new one, and in none of them more than there is.
    if (work.looked > 2 * segment) FAIL("a scan of " << work.looked << " slots");
  }
  CHECK(moved.most <= most_in_segment);
  CHECK(splits > 300'000 / most_in_segment);
  // Nor does anything else than insertions: to forget, to find whom to forget, and the search that finds nothing.
  Tally looked;
  for (std::uint32_t i = 0; i < 300'000; i += 3) {
    const Fingerprint client = Fingerprint::of(secret, name("client", i));
    work.begin();
    table.near(client, 64, [](const WatchedSlot&) { return true; });
    looked.add(work.looked);
    work.begin();
    WatchedSlot* const slot = table.find(client);
    if (slot == nullptr) FAIL("a client is lost");
    table.erase(*slot);
    looked.add(work.looked);
    work.begin();
    if (table.find(client) != nullptr) FAIL("it is forgotten");
    looked.add(work.looked);
  }
  CHECK(looked.most < segment);
}

TEST_CASE("flood: under another secret the same names have other places") {
  constexpr std::uint32_t count = 10'000;
  constexpr Secret secrets[] = {secret, other_secret, {secret[0] ^ 1, secret[1]}, {secret[0], secret[1] ^ 1U << 31}};
  BucketTable tables[std::size(secrets)];
  for (std::size_t i = 0; i < std::size(secrets); ++i) {
    for (std::uint32_t client = 0; client < count; ++client) {
      Slot* const slot = tables[i].insert(Fingerprint::of(secrets[i], name("client", client)));
      REQUIRE(slot != nullptr);
      slot->definition = 1;
      slot->state.balance = client;
    }
  }
  const auto neighbours = [&](std::size_t which, std::uint32_t client) {
    std::set<std::int64_t> all;
    tables[which].near(Fingerprint::of(secrets[which], name("client", client)), 8,
                       [&](const Slot& slot) { return all.insert(slot.state.balance).second; });
    return all;
  };
  for (std::size_t i = 1; i < std::size(secrets); ++i) {
    CAPTURE(i);
    std::uint32_t same_home = 0;
    std::uint32_t same_segment = 0;
    std::uint32_t same_neighbours = 0;
    for (std::uint32_t client = 0; client < count; ++client) {
      const Fingerprint here = Fingerprint::of(secret, name("client", client));
      const Fingerprint there = Fingerprint::of(secrets[i], name("client", client));
      if (here.a == there.a || here.b == there.b || here.c == there.c) FAIL("words that are equal");
      same_home += (here.b & 0xff) == (there.b & 0xff) ? 1U : 0U;
      same_segment += here.a >> 27 == there.a >> 27 ? 1U : 0U;
      const std::set<std::int64_t> theirs = neighbours(i, client);
      for (const std::int64_t each : neighbours(0, client)) {
        if (each != client) same_neighbours += theirs.count(each) != 0 ? 1U : 0U;
      }
    }
    // By chance one in 256, one in 32 and, of seven neighbours among ten thousand, one in two hundred.
    CHECK(same_home < 2 * count / 256);
    CHECK(same_segment < 2 * count / 32);
    CHECK(same_neighbours < 2 * count / 200);
  }
}

// ---- Limiters under a flood ----------------------------------------------------------------------------------------

namespace {

std::string one_limit(const std::string& capacity, const std::string& per_second) {
  return R"({"default": {"capacity": )" + capacity + R"(, "refillPerSecond": )" + per_second + "}}";
}

// A limiter in the hands of a host who asks only what can be answered.
struct Host {
  TierLimiter limiter;

  explicit Host(std::string_view policies, const LimiterOptions& options = {}, const Secret& key = secret)
      : limiter(options) {
    limiter.seed(key);
    const auto loaded = limiter.set_policies(policies);
    INFO(policies);
    REQUIRE(loaded.ok());
  }
  Decision check(std::string_view client, std::int64_t now, std::uint64_t cost = 1,
                 std::optional<std::string_view> tier = {}) {
    return answer(limiter.check({client, cost, tier}, now));
  }
  Decision peek(std::string_view client, std::int64_t now, std::uint64_t cost = 1,
                std::optional<std::string_view> tier = {}) {
    return answer(limiter.peek({client, cost, tier}, now));
  }
  [[nodiscard]] LimiterStats stats() const { return limiter.stats(); }

 private:
  static Decision answer(const tierlimit::Result<Decision>& result) {
    if (!result.ok()) FAIL(result.error().message.view());
    return result.value();
  }
};

}  // namespace

TEST_CASE("flood: who has spent all is denied through five times as many new names as there is room for") {
  struct Quota {
    const char* what;
    const char* policies;
    std::optional<std::string_view> tier;  // of those who have spent all
    std::uint64_t all;
    std::int64_t step;  // nanoseconds between two new names
  };
  const Quota quota = GENERATE(
      Quota{"the clock stands still", R"({"default": {"capacity": 10, "refillPerSecond": 1}})", {}, 10, 0},
      Quota{"slow", R"({"default": {"capacity": 3, "refill": {"tokens": 1, "seconds": 86400}}})", {}, 3, 1'000'000},
      Quota{"never refills", R"({"default": {"capacity": 10, "refillPerSecond": 0}})", {}, 10, 1'000'000},
      Quota{"the least capacity that leaves something",
            R"({"default": {"capacity": 2, "refillPerSecond": 0}})",
            {},
            2,
            1000},
      Quota{"large", R"({"default": {"capacity": 1e9, "refillPerSecond": 0.3333333333333333}})", {}, 1'000'000'000, 0},
      // New names are full again at once, and swept.
      Quota{"a tier slower than the flood's",
            R"({"default": {"capacity": 50, "refillPerSecond": 1000},
                "tiers": {"free": {"capacity": 5, "refillPerSecond": 0.001}}})",
            "free", 5, 1'000'000},
      Quota{"a tier that never refills",
            R"({"default": {"capacity": 10, "refillPerSecond": 1}, "tiers": {"trial": {"capacity": 5, "refill":
                {"tokens": 0, "seconds": 1}}}})",
            "trial", 5, 1000});
  const auto most =
      GENERATE(std::uint32_t{8}, std::uint32_t{9}, std::uint32_t{64}, std::uint32_t{1'000}, std::uint32_t{10'000});
  // One, and very many at the same time.
  const auto share = GENERATE(std::uint32_t{0}, std::uint32_t{2}, std::uint32_t{3});
  const std::uint32_t drained = share == 0 ? 1 : most / 4 * share;
  CAPTURE(quota.what, most, drained);

  Host host(quota.policies, {.max_clients = most});
  for (std::uint32_t i = 0; i < drained; ++i) {
    REQUIRE(host.check(name("drained", i), 0, quota.all, quota.tier).allowed);
  }
  std::int64_t now = 0;
  std::uint32_t unanswered = 0;
  std::uint32_t let_off = 0;
  std::uint32_t most_buckets = 0;
  for (std::uint32_t i = 0; i < 5 * most; ++i) {
    now = i * quota.step / 1000;
    const Decision decision = host.check(name("new", i), now);
    unanswered += decision.allowed && decision.remaining == static_cast<std::int64_t>(decision.limit) - 1 ? 0 : 1;
    most_buckets = std::max(most_buckets, host.stats().buckets);
    if (i % (most / 4) == 0) let_off += host.peek("drained 0", now, 1, quota.tier).allowed ? 1U : 0U;
  }
  CHECK(unanswered == 0);
  CHECK(most_buckets <= most);
  for (std::uint32_t i = 0; i < drained; ++i)
    let_off += host.peek(name("drained", i), now, 1, quota.tier).allowed ? 1U : 0U;
  for (std::uint32_t i = 0; i < drained; ++i)
    let_off += host.check(name("drained", i), now, 1, quota.tier).allowed ? 1U : 0U;
  CHECK(let_off == 0);

  const LimiterStats stats = host.stats();
  CHECK(stats.allowed == drained + 5 * most);
  CHECK(stats.buckets == stats.allowed - stats.swept - stats.evictions);
  // Of those who went each had spent one token, at most.
  CHECK(stats.evicted_tokens <= static_cast<double>(stats.evictions));
  CHECK(stats.table_full == 0);
  if (quota.step == 0) {
    CHECK(stats.buckets == most);
    CHECK(stats.evicted_tokens == static_cast<double>(stats.evictions));
  }
}

TEST_CASE("flood: of a table full of those who have spent all, few pay for a flood of a hundred times as many names") {
  // Some have to: there is no room for anybody else. Then new names go before them.
  const char* const refill = GENERATE("0", "0.001");
  Host host(one_limit("10", refill), {.max_clients = 1'000});
  for (std::uint32_t i = 0; i < 1'000; ++i) REQUIRE(host.check(name("drained", i), 0, 10).allowed);
  for (std::uint32_t i = 0; i < 100'000; ++i) {
    if (!host.check(name("new", i), 0).allowed) FAIL("a new client is refused");
  }
  std::uint32_t let_off = 0;
  for (std::uint32_t i = 0; i < 1'000; ++i) let_off += host.peek(name("drained", i), 0).allowed ? 1U : 0U;
  CHECK(let_off > 0);
  CHECK(let_off < 150);
  const LimiterStats stats = host.stats();
  CHECK(stats.buckets == 1'000);
  CHECK(stats.evictions == 100'000);
  CHECK(stats.evicted_tokens == static_cast<double>(100'000 + 9 * let_off));
}

TEST_CASE("flood: whom a new client resets has not spent more, where one of its neighbours has not") {
  // Whoever comes has spent two thousandths more than the one before, and goes before all who came later.
  Host host(R"({"default": {"capacity": 1000, "refillPerSecond": 0}})", {.max_clients = 8});
  for (std::uint32_t i = 0; i < 100; ++i) REQUIRE(host.check(name("c", i), i, 2 * i + 1).allowed);
  for (std::uint32_t i = 0; i < 100; ++i) {
    CAPTURE(i);
    CHECK(host.peek(name("c", i), 100).remaining == (i < 92 ? 1000 : 1000 - 2 * i - 1));
  }
  // The last one spends the least of all, and goes at once.
  for (std::uint32_t i = 0; i < 10; ++i) REQUIRE(host.check(name("thrifty", i), 200).allowed);
  CHECK(host.peek("thrifty 8", 200).remaining == 1000);
  CHECK(host.peek("thrifty 9", 200).remaining == 999);
  // The first of them took the place of another, for somebody had to go.
  CHECK(host.peek("c 92", 200).remaining == 1000);
  for (std::uint32_t i = 93; i < 100; ++i) CHECK(host.peek(name("c", i), 200).remaining == 1000 - 2 * i - 1);
}

TEST_CASE("flood: whom it evicts is a matter of the secret") {
  const auto evicted = [](const Secret& key) {
    Host host(one_limit("10", "1"), {.max_clients = 500}, key);
    for (std::uint32_t i = 0; i < 500; ++i) REQUIRE(host.check(name("client", i), 0).allowed);
    for (std::uint32_t i = 0; i < 100; ++i) REQUIRE(host.check(name("new", i), 0, 10).allowed);
    std::set<std::uint32_t> gone;
    for (std::uint32_t i = 0; i < 500; ++i) {
      if (host.peek(name("client", i), 0).remaining == 10) gone.insert(i);
    }
    REQUIRE(gone.size() == 100);
    return gone;
  };
  const std::set<std::uint32_t> here = evicted(secret);
  CHECK(evicted(secret) == here);
  for (const Secret& key : {other_secret, Secret{secret[0], secret[1] ^ 1}}) {
    std::vector<std::uint32_t> both;
    const std::set<std::uint32_t> there = evicted(key);
    std::set_intersection(here.begin(), here.end(), there.begin(), there.end(), std::back_inserter(both));
    // By chance a fifth of the hundred.
    CHECK(both.size() < 40);
  }
}

TEST_CASE("flood: no single decision forgets more than a few buckets or takes more than a segment of memory") {
  constexpr std::uint64_t segment = 64 + 512 * 32;
  const bool flood = GENERATE(true, false);
  CAPTURE(flood);
  Host host(one_limit("10", "1"), {.max_clients = 20'000});
  LimiterStats before = host.stats();
  Tally swept;
  Tally evicted;
  std::uint64_t most_bytes = 0;
  const auto decide = [&](std::string_view client, std::int64_t now) {
    if (!host.check(client, now).allowed) FAIL("a client is denied");
    const LimiterStats after = host.stats();
    swept.add(static_cast<std::uint32_t>(after.swept - before.swept));
    evicted.add(static_cast<std::uint32_t>(after.evictions - before.evictions));
    // A pointer for each hundred clients or so, beside the segment.
    if (after.bytes - before.bytes > segment + after.bytes / 64) FAIL("a table that is moved as a whole");
    most_bytes = std::max(most_bytes, after.bytes);
    before = after;
  };
  for (std::uint32_t i = 0; i < 30'000; ++i) decide(name("client", i), 0);
  CHECK(evicted.sum == 10'000);
  CHECK(swept.sum == 0);
  // All of them are full; whoever comes now sweeps them away, one known client as well as many new ones.
  for (std::uint32_t i = 0; i < 300'000 && host.stats().buckets > 2; ++i) {
    decide(flood && i % 8 == 0 ? name("new", i) : "known", 100 * second + i * 10 * second);
  }
  // Newer ones are still in their first rounds.
  CHECK(host.stats().buckets <= (flood ? 15'000 : 2));
  CHECK(evicted.sum == 10'000);
  CHECK(evicted.most == 1);
  CHECK(swept.most >= 16);
  CHECK(swept.most <= 64);
  CHECK(most_bytes < 80 * 20'000);
}

TEST_CASE("flood: counters add up, whatever happens to new names") {
  const auto on_full = GENERATE(OnFull::evict, OnFull::deny);
  const bool sweep = GENERATE(true, false);
  const auto most = GENERATE(std::uint32_t{8}, std::uint32_t{100}, std::uint32_t{700});
  CAPTURE(on_full == OnFull::deny, sweep, most);
  Random random(most);
  Host host(R"({"default": {"capacity": 10, "refillPerSecond": 1},
                "tiers": {"slow": {"capacity": 20, "refillPerSecond": 0.01},
                          "frozen": {"capacity": 30, "refillPerSecond": 0}}})",
            {.max_clients = most, .on_full = on_full, .sweep = sweep});
  std::int64_t now = 0;
  double given = 0;
  std::uint64_t spent = 0;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    now += static_cast<std::int64_t>(random.below(sweep ? 40'000'000 / most : 2'000));
    const std::uint64_t cost = 1 + random.below(10);
    std::optional<std::string_view> tier;
    if (random.chance(4)) tier = "slow";
    // Never swept: in the end nobody else would be there.
    if (random.chance(4000)) tier = "frozen";
    const LimiterStats before = host.stats();
    const Decision decision = host.check(name("new", i), now, cost, tier);
    const LimiterStats after = host.stats();
    if (decision.allowed) spent += cost;
    if (!decision.allowed && decision.reason != Reason::table_full) FAIL("a new client is denied");
    // What one decision gave away is what one client can have spent.
    if (after.evicted_tokens - before.evicted_tokens > 10) FAIL("more given away than was spent");
    if (after.evictions == before.evictions) given += after.evicted_tokens - before.evicted_tokens;
    if (after.buckets != after.allowed - after.swept - after.evictions) FAIL("buckets that came or went by themselves");
    if (after.denied != after.table_full || after.allowed + after.denied != i + 1)
      FAIL("an answer that is not counted");
    if (after.buckets > most) FAIL("more buckets than there may be");
  }
  const LimiterStats stats = host.stats();
  CHECK(given == 0);
  CHECK(stats.evicted_tokens <= static_cast<double>(spent));
  CHECK((stats.evictions > 0) == (on_full == OnFull::evict));
  CHECK((stats.table_full > 0) == (on_full == OnFull::deny));
  CHECK((stats.swept > 0) == sweep);
}

TEST_CASE("flood: a stream of new names takes room for those that are not full yet, and little more") {
  // A name a fifth of a millisecond, and a second until it is full again: 5,000 are not.
  Host host(one_limit("10", "1"), {.max_clients = 1'000'000, .max_bytes = 1U << 30});
  std::uint64_t at_first = 0;
  for (std::uint32_t i = 0; i < 600'000; ++i) {
    if (!host.check(name("new", i), std::int64_t{i} * 200).allowed) FAIL("a new client is denied");
    if (i == 100'000) at_first = host.stats().bytes;
  }
  CHECK(host.stats().buckets < 7'000);
  // Segments that had one more than ever before have been split.
  CHECK(host.stats().bytes < at_first * 5 / 4);
  CHECK(host.stats().evictions == 0);
}

TEST_CASE("flood: case 36: a sweep before the bucket is full gives nothing back") {
  Host host(one_limit("1", "0.001"));
  REQUIRE(host.check("c", 0).allowed);
  std::uint64_t swept = 0;
  for (const std::int64_t at : {300 * second, 400 * second, 600 * second, 1'000 * second - 1'000}) {
    // Others, whose buckets stay full, and then many rounds of the sweep over 16 slots.
    for (std::uint32_t i = 0; i < 10; ++i) host.check(name("other", i), at - 1'000, 2);
    for (int i = 0; i < 1'000; ++i) host.check("passer-by", at, 2);
    swept += 10;
    // The passer-by too may be forgotten between the times it comes.
    CHECK(host.stats().swept >= swept);
    CHECK(host.stats().buckets == 2);
    CHECK_FALSE(host.peek("c", at).allowed);
  }
  CHECK_FALSE(host.check("c", 1'000 * second - 1'000).allowed);
  CHECK(host.check("c", 1'000 * second).allowed);
}

// ---- Without memory ------------------------------------------------------------------------------------------------

TEST_CASE("flood: memory that does not grow is asked for once in 1,025 wishes, and used when it is there again") {
  BucketTable table;
  const auto client = [](std::uint32_t i) { return Fingerprint::of(secret, name("client", i)); };
  const auto add = [&](std::uint32_t i) {
    Slot* const slot = table.insert(client(i));
    if (slot == nullptr) return false;
    slot->definition = 1;
    slot->state.balance = i;
    return true;
  };
  {
    const NoMemory no_memory;
    for (std::uint32_t i = 0; i < 3 * 1'025; ++i) {
      REQUIRE_FALSE(add(i));
      REQUIRE(wishes == 1 + static_cast<int>(i / 1'025));
    }
    CHECK(table.size() == 0);
    CHECK(table.bytes() == 0);
  }
  std::uint32_t next = 0;
  for (; next < 5'000 && !add(next); ++next) {
  }
  CHECK(next == 0);  // the last wish was the 1,024th that was not passed on

  // The same where some segments are full and some are not.
  std::vector<std::uint32_t> known = {next};
  while (known.size() < 50'000) {
    REQUIRE(add(++next));
    known.push_back(next);
  }
  std::uint32_t refused = 0;
  std::uint64_t bytes = table.bytes();
  {
    const NoMemory no_memory;
    for (int i = 0; i < 30'000; ++i) {
      if (add(++next)) {
        known.push_back(next);
      } else {
        ++refused;
      }
    }
    CHECK(wishes == static_cast<int>((refused + 1'024) / 1'025));
  }
  CHECK(refused > 5'000);
  // No segment more; the directory has grown before there was no memory for what it was to point at.
  CHECK(table.bytes() < bytes + 16'000);
  CHECK(table.size() == known.size());
  // Somebody forgotten makes room for who comes into the same segment.
  const std::uint32_t last = next;
  REQUIRE(table.find(client(last)) == nullptr);
  Slot* near = nullptr;
  table.near(client(last), 1, [&](Slot& slot) { return (near = &slot) != nullptr; });
  REQUIRE(near != nullptr);
  known.erase(std::find(known.begin(), known.end(), static_cast<std::uint32_t>(near->state.balance)));
  table.erase(*near);
  REQUIRE(add(last));
  known.push_back(last);

  std::uint32_t waited = 0;
  bytes = table.bytes();
  while (table.bytes() == bytes) {
    if (add(++next)) {
      known.push_back(next);
    } else {
      REQUIRE(++waited <= 1'024);
    }
  }
  CHECK(waited > 0);
  // No more refusals from here on, and nobody is lost.
  for (int i = 0; i < 20'000; ++i) {
    REQUIRE(add(++next));
    known.push_back(next);
  }
  CHECK(table.size() == known.size());
  for (const std::uint32_t each : known) {
    const Slot* const slot = table.find(client(each));
    if (slot == nullptr || slot->state.balance != each) FAIL("a client is lost");
  }
}

TEST_CASE("flood: memory that does not grow is a full table, until there is some again") {
  const auto on_full = GENERATE(OnFull::evict, OnFull::deny);
  CAPTURE(on_full == OnFull::deny);
  Host host(one_limit("10", "1"), {.on_full = on_full});
  for (std::uint32_t i = 0; i < 500; ++i) REQUIRE(host.check(name("drained", i), 0, 10).allowed);
  std::uint32_t next = 0;
  for (; next < 10'000; ++next) REQUIRE(host.check(name("new", next), 0).allowed);
  const std::uint64_t bytes = host.stats().bytes;
  std::uint32_t let_off = 0;
  {
    const NoMemory no_memory;
    for (; next < 100'000; ++next) {
      const Decision decision = host.check(name("new", next), 0);
      if (!decision.allowed && !(on_full == OnFull::deny && decision.reason == Reason::table_full)) {
        FAIL("a new client is denied");
      }
    }
    for (std::uint32_t i = 0; i < 500; ++i) let_off += host.check(name("drained", i), 0).allowed ? 1U : 0U;
    CHECK(wishes > 10);
    CHECK(wishes < 90);
  }
  CHECK(let_off == 0);
  LimiterStats stats = host.stats();
  CHECK(stats.bytes < bytes + 16'000);
  CHECK(stats.buckets < 20'000);
  CHECK(stats.buckets == stats.allowed - stats.evictions);
  CHECK(stats.denied == stats.table_full + 500);
  CHECK((stats.table_full > 70'000) == (on_full == OnFull::deny));
  CHECK((stats.evictions > 70'000) == (on_full == OnFull::evict));

  // Another has given memory back.
  const std::uint64_t scarce = stats.bytes;
  const auto turned_away = [&] { return host.stats().table_full + host.stats().evictions; };
  const std::uint64_t before = turned_away();
  while (host.stats().bytes == scarce) {
    host.check(name("new", next++), 0);
    REQUIRE(turned_away() - before <= 1'024);
  }
  const std::uint64_t after = turned_away();
  for (int i = 0; i < 20'000; ++i) REQUIRE(host.check(name("new", next++), 0).allowed);
  CHECK(turned_away() == after);
  for (std::uint32_t i = 0; i < 500; ++i) let_off += host.check(name("drained", i), 0).allowed ? 1U : 0U;
  CHECK(let_off == 0);
}

TEST_CASE("flood: where there is no memory at all new clients are refused, and nothing else happens") {
  const auto on_full = GENERATE(OnFull::evict, OnFull::deny);
  Host host(one_limit("10", "1"), {.on_full = on_full});
  {
    const NoMemory no_memory;
    for (std::uint32_t i = 0; i < 1'000; ++i) {
      const Decision decision = host.check("c", 0);
      if (decision.allowed || decision.reason != Reason::table_full) FAIL("an answer without a bucket");
      if (decision.retry.has_value()) FAIL("a promise that nobody can keep");
    }
    CHECK(wishes == 1);
  }
  CHECK(host.stats().table_full == 1'000);
  CHECK(host.stats().evictions == 0);
  std::uint32_t waited = 0;
  for (; !host.check("c", 0).allowed; ++waited) REQUIRE(waited < 1'024);
  CHECK(waited == 1'024 - 999);
}
