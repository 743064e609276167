// SPDX-License-Identifier: MIT
#include "tierlimit/policy_set.hpp"

#include <algorithm>

#include "json.hpp"

namespace tierlimit {
namespace {

using json::Document;
using json::Excerpt;
using json::Kind;
using json::Node;
using json::Path;
using json::Reporter;

using Errors = std::vector<Error>;

// What an allocation costs beside its content.
constexpr std::size_t allocation_overhead = 32;
// More than the exact arithmetic of one limit takes.
constexpr std::size_t room_for_limit = 64 << 10;

// The members of an object: their names, and what its other names are told.
struct Grammar {
  const std::string_view* names;
  std::size_t size;
  std::string_view unknown;
};

enum Top : std::size_t { top_default, top_tiers, top_clients, top_size };
constexpr std::string_view top_names[top_size] = {"default", "tiers", "clients"};
constexpr Grammar top_grammar = {top_names, top_size,
                                 " is not a member of a policy document, which has default, tiers and clients"};

enum Member : std::size_t {
  member_capacity,
  member_refill_per_second,
  member_refill,
  member_algorithm,
  member_on_raise,
  member_accrual,
  member_on_store_error,
  member_limits,
  member_limit,
  member_window_seconds,
  member_size
};
constexpr std::string_view member_names[member_size] = {"capacity", "refillPerSecond", "refill",       "algorithm",
                                                        "onRaise",  "accrual",         "onStoreError", "limits",
                                                        "limit",    "windowSeconds"};
constexpr Grammar member_grammar = {member_names, member_size,
                                    " is not a member of a tier, which has capacity and refillPerSecond or refill"};

enum Refill : std::size_t { refill_tokens, refill_seconds, refill_size };
constexpr std::string_view refill_names[refill_size] = {"tokens", "seconds"};
constexpr Grammar refill_grammar = {refill_names, refill_size,
                                    " is not a member of a refill, which has tokens and seconds"};

// A member that names one of a few ways to behave; the first `built` of them are there today.
struct Choice {
  Member member;
  std::size_t built;
  std::size_t size;
  std::string_view values[4];
  std::string_view rule;
};
constexpr Choice choices[] = {
    {member_algorithm,
     1,
     3,
     {"token-bucket", "sliding-window", "fixed-window"},
     "it must be token-bucket, sliding-window or fixed-window"},
    {member_on_raise, 1, 4, {"keep", "fill", "proportional", "add"}, "it must be keep, fill, proportional or add"},
    {member_accrual, 1, 2, {"at-next", "prorated"}, "it must be at-next or prorated"},
    {member_on_store_error, 0, 3, {"deny", "allow", "local"}, "it must be deny, allow or local"},
};

// Nodes of an object's members: of the name, in the order of the grammar; 0 where there is none.
using Found = std::uint32_t[member_size];

// A number of a limit, with what messages call it. Without a number where it is missing or has been refused.
struct Quantity {
  std::optional<Decimal> number;
  Path path;
  std::uint32_t node = 0;
  std::string_view rule;
};

class Loader {
 public:
  Loader(const Document& document, Reporter& reporter, PolicySet& set, Errors& refusals, bool strict) noexcept
      : document_(document),
        reporter_(reporter),
        set_(set),
        refusals_(refusals),
        tolerated_(strict ? refusals : set.rejected) {}

  void load();

 private:
  [[nodiscard]] bool is(std::uint32_t node, Kind kind) const noexcept { return document_[node].kind == kind; }

  void add(Errors& errors, ErrorCode code, const Path* path, std::uint32_t node,
           std::initializer_list<std::string_view> sentence) {
    reporter_.add(errors, code, path, document_[node].offset, sentence);
  }

  bool expect(Errors& errors, std::uint32_t node, Kind kind, const Path* path, std::string_view what,
              std::string_view rule);
  void find_members(Errors& errors, std::uint32_t object, const Path* path, const Grammar& grammar,
                    std::uint32_t* found);

  void name_tiers(std::uint32_t object);
  void load_tiers(std::uint32_t object, const Path& path);
  void load_clients(std::uint32_t object, const Path& path);

  std::optional<Policy> policy(Errors& errors, std::uint32_t node, const Path& path);
  std::size_t choice(Errors& errors, const Choice& choice, std::uint32_t name, const Path& tier);
  void read_number(Errors& errors, std::uint32_t name, Quantity& quantity);
  void read_refill(Errors& errors, std::uint32_t name, const Path& path, Quantity& tokens, Quantity& seconds);
  std::optional<Limit> limit(Errors& errors, std::uint32_t tier, const Path& path, const Found& found);

  const Document& document_;
  Reporter& reporter_;
  PolicySet& set_;
  Errors& refusals_;   // of the whole document
  Errors& tolerated_;  // where a tier's or client's faults go
};

bool Loader::expect(Errors& errors, std::uint32_t node, Kind kind, const Path* path, std::string_view what,
                    std::string_view rule) {
  if (is(node, kind)) return true;
  add(errors, ErrorCode::wrong_type, path, node, {what, " is ", document_.source(node), "; it must be ", rule});
  return false;
}

void Loader::find_members(Errors& errors, std::uint32_t object, const Path* path, const Grammar& grammar,
                          std::uint32_t* found) {
  std::fill_n(found, grammar.size, std::uint32_t{0});
  for (std::uint32_t name = object + 1; name < document_[object].next; name = document_[name + 1].next) {
    const std::string_view* const end = grammar.names + grammar.size;
    const std::string_view* const known = std::find(grammar.names, end, document_[name].text);
    if (known != end) {
      found[known - grammar.names] = name;
    } else {
      const Path place{path, document_[name].text};
      add(errors, ErrorCode::unknown_member, &place, name, {document_.source(name), grammar.unknown});
    }
  }
}

void Loader::load() {
  constexpr std::uint32_t root = 0;
  if (!expect(refusals_, root, Kind::object, nullptr, "the document", "an object")) return;
  std::uint32_t found[top_size];
  find_members(refusals_, root, nullptr, top_grammar, found);

  // Clients may stand before the tiers that they are assigned to.
  if (found[top_tiers] != 0 && is(found[top_tiers] + 1, Kind::object)) name_tiers(found[top_tiers] + 1);
  for (std::uint32_t name = root + 1; name < document_[root].next; name = document_[name + 1].next) {
    const std::uint32_t value = name + 1;
    const Path path{nullptr, document_[name].text};
    if (name == found[top_default]) {
      if (const std::optional<Policy> policy = this->policy(refusals_, value, path)) set_.default_policy = *policy;
    } else if (name == found[top_tiers]) {
      if (expect(refusals_, value, Kind::object, &path, "tiers", "an object")) load_tiers(value, path);
    } else if (name == found[top_clients]) {
      if (expect(refusals_, value, Kind::object, &path, "clients", "an object")) load_clients(value, path);
    }
  }
  if (found[top_default] == 0) {
    add(refusals_, ErrorCode::missing_member, nullptr, root, {"default is missing; a policy document must have one"});
  }
}

void Loader::name_tiers(std::uint32_t object) {
  std::uint32_t count = 0;
  const std::uint32_t* const names = document_.sorted_names(object, count);
  std::size_t bytes = allocation_overhead + count * (sizeof(Tier) + allocation_overhead);
  for (std::uint32_t i = 0; i < count; ++i) bytes += document_[names[i]].text.size();
  if (!reporter_.available(bytes)) return;
  set_.tiers.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) set_.tiers[i].name = document_[names[i]].text;
}

void Loader::load_tiers(std::uint32_t object, const Path& path) {
  for (std::uint32_t name = object + 1; name < document_[object].next; name = document_[name + 1].next) {
    if (reporter_.starved()) return;
    const Path place{&path, document_[name].text};
    const std::ptrdiff_t index = set_.find(place.name) - set_.tiers.data();
    set_.tiers[static_cast<std::size_t>(index)].policy = policy(tolerated_, name + 1, place);
  }
}

void Loader::load_clients(std::uint32_t object, const Path& path) {
  std::size_t count = 0;
  std::size_t bytes = allocation_overhead;
  for (std::uint32_t name = object + 1; name < document_[object].next; name = document_[name + 1].next) {
    ++count;
    bytes += document_[name].text.size() + document_[name + 1].text.size() + 2 * allocation_overhead;
  }
  if (!reporter_.available(bytes + count * sizeof(ClientTier))) return;
  set_.clients.reserve(count);

  for (std::uint32_t name = object + 1; name < document_[object].next; name = document_[name + 1].next) {
    const std::uint32_t value = name + 1;
    const Path place{&path, document_[name].text};
    if (!expect(refusals_, value, Kind::string, &place, document_.source(name), "the name of a tier")) continue;
    const std::string_view tier = document_[value].text;
    set_.clients.push_back(ClientTier{std::string(place.name), std::string(tier)});
    if (set_.find(tier) == nullptr) {
      add(tolerated_, ErrorCode::unknown_tier, &place, value,
          {document_.source(name), " is assigned to ", document_.source(value), ", a tier that is not there"});
    }
  }
}

std::optional<Policy> Loader::policy(Errors& errors, std::uint32_t node, const Path& path) {
  if (!reporter_.available(room_for_limit)) return std::nullopt;
  const std::size_t errors_before = errors.size();
  if (!expect(errors, node, Kind::object, &path, document_.source(node - 1), "an object")) return std::nullopt;
  Found found;
  find_members(errors, node, &path, member_grammar, found);

  bool token_bucket = true;
  bool window = false;
  for (const Choice& each : choices) {
    if (found[each.member] == 0) continue;
    const std::size_t chosen = choice(errors, each, found[each.member], path);
    if (each.member == member_algorithm) {
      token_bucket = chosen == 0;
      window = chosen != 0;
    }
  }
  if (found[member_limits] != 0) {
    const Path place{&path, member_names[member_limits]};
    add(errors, ErrorCode::unsupported, &place, found[member_limits],
        {"limits is not supported by this version; a tier has one limit"});
    token_bucket = false;
  }
  for (const Member member : {member_limit, member_window_seconds}) {
    if (found[member] == 0 || window) continue;
    const Path place{&path, member_names[member]};
    add(errors, ErrorCode::unknown_member, &place, found[member],
        {member_names[member], " means nothing without the algorithm sliding-window or fixed-window"});
  }

  std::optional<Policy> policy;
  if (token_bucket) {
    if (const std::optional<Limit> limit = this->limit(errors, node, path, found)) {
      policy.emplace();
      policy->limit = *limit;
    }
  }
  if (errors.size() != errors_before || reporter_.starved()) return std::nullopt;
  return policy;
}

// The number of the chosen value; the count of values when it is none of them.
std::size_t Loader::choice(Errors& errors, const Choice& choice, std::uint32_t name, const Path& tier) {
  const std::uint32_t value = name + 1;
  const std::string_view member = member_names[choice.member];
  const Path place{&tier, member};
  if (!expect(errors, value, Kind::string, &place, member, "a string")) return choice.size;
  const std::string_view* const end = choice.values + choice.size;
  const auto chosen = static_cast<std::size_t>(std::find(choice.values, end, document_[value].text) - choice.values);
  if (chosen == choice.size) {
    add(errors, ErrorCode::invalid_value, &place, value, {member, " is ", document_.source(value), "; ", choice.rule});
  } else if (chosen >= choice.built) {
    add(errors, ErrorCode::unsupported, &place, value,
        {member, " is ", document_.source(value), ", which this version does not support"});
  }
  return chosen;
}

void Loader::read_number(Errors& errors, std::uint32_t name, Quantity& quantity) {
  quantity.node = name + 1;
  if (expect(errors, quantity.node, Kind::number, &quantity.path, quantity.path.name, "a number")) {
    quantity.number = Decimal::parse(document_[quantity.node].text);
  }
}

void Loader::read_refill(Errors& errors, std::uint32_t name, const Path& path, Quantity& tokens, Quantity& seconds) {
  const std::uint32_t refill = name + 1;
  if (!expect(errors, refill, Kind::object, &path, path.name, "an object with tokens and seconds")) return;
  std::uint32_t found[refill_size];
  find_members(errors, refill, &path, refill_grammar, found);
  Quantity* const quantities[refill_size] = {&tokens, &seconds};
  for (std::size_t part = 0; part < refill_size; ++part) {
    if (found[part] != 0) {
      read_number(errors, found[part], *quantities[part]);
    } else {
      add(errors, ErrorCode::missing_member, &path, refill,
          {refill_names[part], " is missing; a refill must have tokens and seconds"});
    }
  }
}

std::optional<Limit> Loader::limit(Errors& errors, std::uint32_t tier, const Path& path, const Found& found) {
  const std::size_t errors_before = errors.size();
  const std::uint32_t per_second = found[member_refill_per_second];
  const std::uint32_t refill = found[member_refill];
  const Path per_second_path{&path, member_names[member_refill_per_second]};
  const Path refill_path{&path, member_names[member_refill]};
  Quantity capacity{{}, {&path, member_names[member_capacity]}, 0, "at least 1"};
  Quantity tokens{{}, {&refill_path, refill_names[refill_tokens]}, 0, "at least 0"};
  Quantity seconds{{}, {&refill_path, refill_names[refill_seconds]}, 0, "more than 0"};

  if (found[member_capacity] != 0) {
    read_number(errors, found[member_capacity], capacity);
  } else {
    add(errors, ErrorCode::missing_member, &path, tier, {"capacity is missing; a tier must have one"});
  }
  if (per_second != 0 && refill != 0) {
    const bool refill_first = refill < per_second;
    add(errors, ErrorCode::conflicting_members, refill_first ? &per_second_path : &refill_path,
        refill_first ? per_second : refill,
        {"refillPerSecond and refill are both given; a tier must have one of them"});
  } else if (per_second != 0) {
    tokens.path = per_second_path;
    read_number(errors, per_second, tokens);
    seconds.number = Decimal(1);
  } else if (refill != 0) {
    read_refill(errors, refill, refill_path, tokens, seconds);
  } else {
    add(errors, ErrorCode::missing_member, &path, tier, {"refillPerSecond is missing; a tier must have it or refill"});
  }

  // What is not there or breaks its rule is replaced by what harms nothing, so that the rest is judged too.
  for (;;) {
    if (!capacity.number) capacity.number = Decimal(1);
    if (!tokens.number) tokens.number = Decimal();
    if (!seconds.number) seconds.number = Decimal(1);
    const Result<Limit> made = Limit::make(*capacity.number, *tokens.number, *seconds.number);
    const bool sound = errors.size() == errors_before;
    if (!made.ok() && made.error().code == ErrorCode::invalid_value) {
      const std::string& part = made.error().path;
      Quantity& wrong = part == "capacity" ? capacity : part == "tokens" ? tokens : seconds;
      add(errors, ErrorCode::invalid_value, &wrong.path, wrong.node,
          {wrong.path.name, " is ", document_.source(wrong.node), "; it must be ", wrong.rule});
      if (reporter_.starved()) return std::nullopt;
      wrong.number.reset();
      continue;
    }
    if (!sound) return std::nullopt;

    const std::uint32_t rate = per_second != 0 ? per_second : refill;
    const Excerpt rate_tokens = document_.source(tokens.node);
    const Excerpt rate_seconds = refill != 0 ? document_.source(seconds.node) : Excerpt("1");
    const auto tell = [&](Errors& list, ErrorCode code, const Path* place, std::uint32_t node, std::string_view rule) {
      add(list, code, place, node,
          {"capacity is ", document_.source(capacity.node), " and the refill is ", rate_tokens, " tokens in ",
           rate_seconds, " seconds; ", rule});
    };
    if (!made.ok()) {
      tell(errors, made.error().code, &path, tier, made.error().message);
      return std::nullopt;
    }
    const Limit& limit = made.value();
    if (limit.rounded == Limit::Rounded::capacity || limit.rounded == Limit::Rounded::both) {
      tell(set_.warnings, ErrorCode::rate_rounded, &capacity.path, capacity.node,
           "the capacity is rounded, because both do not fit exactly");
    }
    if (limit.rounded == Limit::Rounded::rate || limit.rounded == Limit::Rounded::both) {
      tell(set_.warnings, ErrorCode::rate_rounded, per_second != 0 ? &per_second_path : &refill_path, rate + 1,
           "the refill rate is rounded, because both do not fit exactly");
    }
    return limit;
  }
}

}  // namespace

Result<PolicySet, std::vector<Error>> PolicySet::from_json(std::string_view text, bool strict) {
  PolicySet set;
  Errors errors;
  bool starved = false;
  {
    Reporter reporter(text);
    Document document;
    if (document.read(text, reporter, errors)) Loader(document, reporter, set, errors, strict).load();
    starved = reporter.starved();
  }
  if (starved) {
    set = {};
    errors = {};
    Error error;
    error.code = ErrorCode::out_of_memory;
    error.message = "the policy document does not fit into memory";
    errors.push_back(std::move(error));
  }
  if (!errors.empty()) return {std::move(errors)};
  return {std::move(set)};
}

const Tier* PolicySet::find(std::string_view name) const noexcept {
  const auto found = std::lower_bound(tiers.begin(), tiers.end(), name,
                                      [](const Tier& tier, std::string_view wanted) { return tier.name < wanted; });
  return found == tiers.end() || found->name != name ? nullptr : &*found;
}

}  // namespace tierlimit
