// SPDX-License-Identifier: MIT
#include "tierlimit/policy_set.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "json.hpp"
#include "limit.hpp"
#include "memory.hpp"
#include "policy_reader.hpp"
#include "report.hpp"

namespace tierlimit {
namespace {

using json::Document;
using json::Kind;

using Errors = List<Error>;

// More than the list of a policy's limits takes.
constexpr std::size_t room_for_limit = 64 << 10;

// Place of the name among the names; their count when it is none of them.
std::size_t index_of(std::string_view name, const std::string_view* names, std::size_t count) noexcept {
  return static_cast<std::size_t>(std::find(names, names + count, name) - names);
}

// What readers of parts of the document share. A member is known by the node of its name; its value is the next.
class Reader {
 public:
  Reader(Document& document, Report& report) noexcept : document_(document), report_(report) {}

 protected:
  [[nodiscard]] std::uint32_t first_member(std::uint32_t object) const noexcept { return object + 1; }
  [[nodiscard]] std::uint32_t next_member(std::uint32_t name) const noexcept { return document_[name + 1].next; }
  [[nodiscard]] std::uint32_t end_of_members(std::uint32_t object) const noexcept { return document_[object].next; }

  // In the sentence each % stands for the source of the next of the nodes, and @ for the name that the path ends with.
  void add(Errors& errors, ErrorCode code, const Path* path, std::uint32_t place, const char* sentence,
           std::uint32_t first = 0, std::uint32_t second = 0, std::uint32_t third = 0) {
    report_.add(errors, code, path, document_[place].offset, sentence,
                {document_.source(first), document_.source(second), document_.source(third)});
  }

  bool expect(Errors& errors, Kind kind, const Path* path, std::uint32_t value, const char* sentence) {
    if (document_[value].kind == kind) return true;
    add(errors, ErrorCode::wrong_type, path, value, sentence, value);
    return false;
  }

  Document& document_;
  Report& report_;
};

// ---- A policy ------------------------------------------------------------------------------------------------------

// Of a policy or of one of its limits.
enum Member : std::size_t {
  capacity,
  refill_per_second,
  refill,
  limit,
  window_seconds,
  algorithm,  // this and the next have `choices`, in their order
  on_raise,
  accrual,
  on_store_error,
  limit_name,
  limits,
  member_count
};
constexpr std::string_view member_names[member_count] = {
    "capacity", "refillPerSecond", "refill",       "limit", "windowSeconds", "algorithm",
    "onRaise",  "accrual",         "onStoreError", "name",  "limits"};

// Members as a set.
constexpr std::uint32_t set_of(std::initializer_list<Member> members) noexcept {
  std::uint32_t set = 0;
  for (const Member member : members) set |= std::uint32_t{1} << member;
  return set;
}
constexpr bool contains(std::uint32_t set, std::size_t member) noexcept { return (set >> member & 1) != 0; }

constexpr std::uint32_t numbers = set_of({capacity, refill_per_second, refill, limit, window_seconds});
constexpr std::uint32_t only_of_buckets = set_of({capacity, refill_per_second, refill, on_raise, accrual});
constexpr std::uint32_t only_of_windows = set_of({limit, window_seconds});
// What means nothing in a policy itself, and in the limits that it lists.
constexpr std::uint32_t not_of_policies = set_of({limit_name});
constexpr std::uint32_t not_of_listed = set_of({limits, on_store_error});

// A member that names one of several ways to behave, in the order of their enumerators.
struct Choice {
  std::size_t count;
  std::string_view names[4];
  const char* rule;
};
constexpr Choice choices[] = {
    {3,
     {"token-bucket", "sliding-window", "fixed-window"},
     "@ is %; it must be token-bucket, sliding-window or fixed-window"},
    {4, {"keep", "fill", "proportional", "add"}, "@ is %; it must be keep, fill, proportional or add"},
    {2, {"at-next", "prorated"}, "@ is %; it must be at-next or prorated"},
    {3, {"deny", "allow", "local"}, "@ is %; it must be deny, allow or local"},
};
constexpr const Choice& choice_of(std::size_t member) noexcept { return choices[member - algorithm]; }

// The numbers of which a limit is made. The limit of a window takes the place of a capacity.
enum Part : std::size_t { part_capacity, part_tokens, part_seconds, part_count };
constexpr const char* window_seconds_rule =
    "@ is %; it must be whole microseconds, more than 0 and at most 500000000 seconds";
constexpr const char* part_rules[][part_count] = {
    {"@ is %; it must be at least 1", "@ is %; it must be at least 0", "@ is %; it must be more than 0"},
    {"@ is %; it must be a whole number from 1 to 10000", nullptr, window_seconds_rule},
    {"@ is %; it must be a whole number from 1 to 9007199254740991", nullptr, window_seconds_rule},
};
constexpr std::string_view refill_names[] = {"tokens", "seconds"};

// The texts of the numbers. These break no rule, and stand in for numbers that are not there.
struct Numbers {
  std::string_view texts[part_count] = {"1", "0", "1"};

  [[nodiscard]] LimitFault make(Algorithm by, Limit& made) const {
    const Decimal most = *Decimal::parse(texts[part_capacity]);
    const Decimal tokens = *Decimal::parse(texts[part_tokens]);
    const Decimal seconds = *Decimal::parse(texts[part_seconds]);
    return by == Algorithm::token_bucket ? make_limit(most, tokens, seconds, made)
                                         : make_window(by, most, seconds, made);
  }
};

// Reads a policy. Each of the limits that it lists is read alike, by a reader that knows the policy's.
class PolicyReader : public Reader {
 public:
  PolicyReader(const Reader& reader, Errors& errors, Errors& warnings, const Path& path, std::uint32_t node,
               const PolicyReader* policy = nullptr) noexcept;

  // Leaves a policy that is invalid without limits.
  void read(Policy& policy);

 private:
  [[nodiscard]] std::size_t member_of(std::uint32_t name) const noexcept;
  [[nodiscard]] std::size_t chosen(std::size_t member) const noexcept;
  [[nodiscard]] std::optional<Algorithm> counting() const noexcept;
  [[nodiscard]] std::size_t count_listed() const noexcept;
  [[nodiscard]] bool has_window() const noexcept;

  void read_members();
  void read_member(std::uint32_t name);
  void read_choice(std::size_t member, const Path& place, std::uint32_t value);
  void read_limits(const Path& place, std::uint32_t array);
  void read_limit(List<NamedLimit>& all, std::size_t index);
  void read_name(const Path& place, std::uint32_t value);
  void read_number(Algorithm by, Part part, const Path& place, std::uint32_t value);
  void read_refill(const Path& place, std::uint32_t object);
  bool conflicts(Member member, Member other, const Path& place);
  void require(Member member, const char* sentence);
  void make_limit(Algorithm by, Limit& made);

  Errors& errors_;
  Errors& warnings_;
  const Path& path_;
  std::uint32_t node_;
  const PolicyReader* policy_;  // that lists this limit; null: this is a policy
  List<NamedLimit>* all_ = nullptr;
  std::size_t index_ = 0;  // of the limit among all of the policy
  std::uint32_t found_[member_count] = {};
  std::uint32_t out_of_place_ = 0;
  Numbers numbers_;
  std::uint32_t number_nodes_[part_count] = {};
};

PolicyReader::PolicyReader(const Reader& reader, Errors& errors, Errors& warnings, const Path& path, std::uint32_t node,
                           const PolicyReader* policy) noexcept
    : Reader(reader), errors_(errors), warnings_(warnings), path_(path), node_(node), policy_(policy) {
  if (document_[node].kind != Kind::object) return;
  for (std::uint32_t name = first_member(node); name < end_of_members(node); name = next_member(name)) {
    const std::size_t member = member_of(name);
    if (member != member_count) found_[member] = name;
  }
}

void PolicyReader::read(Policy& policy) {
  if (!report_.available(room_for_limit)) return;
  if (!expect(errors_, Kind::object, &path_, node_, "a policy is %; it must be an object")) return;
  const std::size_t errors_before = errors_.size();
  const std::size_t warnings_before = warnings_.size();
  all_ = &policy.limits;
  if (found_[limits] != 0) {
    read_members();
  } else {
    policy.limits.emplace_back().name = "main";
    read_limit(policy.limits, 0);
  }
  if (errors_.size() == errors_before && !report_.starved()) return;
  while (warnings_.size() != warnings_before) warnings_.pop_back();
  policy.limits = {};
}

// The member of that name where it means something; else member_count.
std::size_t PolicyReader::member_of(std::uint32_t name) const noexcept {
  const std::size_t member = index_of(document_[name].text, member_names, member_count);
  return contains(policy_ == nullptr ? not_of_policies : not_of_listed, member) ? member_count : member;
}

// What the limit has, or else the policy, or else the first; the count of what there is when it is none of that.
std::size_t PolicyReader::chosen(std::size_t member) const noexcept {
  const std::uint32_t name = found_[member];
  if (name == 0) return policy_ == nullptr ? 0 : policy_->chosen(member);
  const json::Node& value = document_[name + 1];
  const Choice& choice = choice_of(member);
  return value.kind == Kind::string ? index_of(value.text, choice.names, choice.count) : choice.count;
}

// Nothing when the algorithm is none that is known: then nothing is missed or out of place.
std::optional<Algorithm> PolicyReader::counting() const noexcept {
  const std::size_t index = chosen(algorithm);
  if (index == choice_of(algorithm).count) return std::nullopt;
  return static_cast<Algorithm>(index);
}

std::size_t PolicyReader::count_listed() const noexcept {
  const std::uint32_t array = found_[limits] + 1;
  std::size_t count = 0;
  for (std::uint32_t node = array + 1; node < document_[array].next; node = document_[node].next) ++count;
  return count;
}

// Whether it is a window, or lists one.
bool PolicyReader::has_window() const noexcept {
  if (found_[limits] == 0) return counting().value_or(Algorithm::token_bucket) != Algorithm::token_bucket;
  const std::uint32_t array = found_[limits] + 1;
  if (document_[array].kind != Kind::array || count_listed() > Policy::most_limits) return false;
  for (std::uint32_t node = array + 1; node < document_[array].next; node = document_[node].next) {
    if (document_[node].kind == Kind::object &&
        PolicyReader(*this, errors_, warnings_, path_, node, this).has_window()) {
      return true;
    }
  }
  return false;
}

void PolicyReader::read_members() {
  out_of_place_ = has_window() ? only_of_buckets : counting() == Algorithm::token_bucket ? only_of_windows : 0;
  for (std::uint32_t name = first_member(node_); name < end_of_members(node_); name = next_member(name)) {
    read_member(name);
  }
}

void PolicyReader::read_member(std::uint32_t name) {
  // Again, because an error found meanwhile may have a very long path.
  if (!report_.available(room_for_limit)) return;
  const std::uint32_t value = name + 1;
  const Path place{&path_, document_[name].text};
  const std::size_t member = member_of(name);
  if (found_[limits] != 0 && contains(numbers, member)) {
    add(errors_, ErrorCode::conflicting_members, &place, name,
        "@ and limits are both given; a tier must have only one of them");
    return;
  }
  if (contains(out_of_place_, member)) {
    add(errors_, ErrorCode::unknown_member, &place, name,
        out_of_place_ == only_of_windows ? "@ means nothing without the algorithm sliding-window or fixed-window"
                                         : "@ means nothing with the algorithm sliding-window or fixed-window");
    return;
  }
  switch (member) {
    case capacity: read_number(Algorithm::token_bucket, part_capacity, place, value); break;
    case refill_per_second:
      if (!conflicts(refill_per_second, refill, place)) {
        read_number(Algorithm::token_bucket, part_tokens, place, value);
      }
      break;
    case refill:
      if (!conflicts(refill, refill_per_second, place)) read_refill(place, value);
      break;
    case limit: read_number(counting().value_or(Algorithm::fixed_window), part_capacity, place, value); break;
    case window_seconds: read_number(Algorithm::fixed_window, part_seconds, place, value); break;
    case limit_name: read_name(place, value); break;
    case limits: read_limits(place, value); break;
    case member_count:
      add(errors_, ErrorCode::unknown_member, &place, name,
          policy_ == nullptr ? "% is not a member of a tier, which has capacity and refillPerSecond or refill, limit "
                               "and windowSeconds, or limits"
                             : "% is not a member of a limit, which has name, and capacity and refillPerSecond or "
                               "refill, or limit and windowSeconds",
          name);
      break;
    default: read_choice(member, place, value); break;
  }
}

void PolicyReader::read_choice(std::size_t member, const Path& place, std::uint32_t value) {
  if (!expect(errors_, Kind::string, &place, value, "@ is %; it must be a string")) return;
  const Choice& choice = choice_of(member);
  if (chosen(member) == choice.count) {
    add(errors_, ErrorCode::invalid_value, &place, value, choice.rule, value);
  } else if (member == on_store_error) {
    add(errors_, ErrorCode::unsupported, &place, value, "@ is %, which this version does not support", value);
  }
}

void PolicyReader::read_limits(const Path& place, std::uint32_t array) {
  if (!expect(errors_, Kind::array, &place, array, "@ is %; it must be an array")) return;
  const std::size_t count = count_listed();
  if (count == 0 || count > Policy::most_limits) {
    report_.add(errors_, ErrorCode::invalid_value, &place, document_[array].offset,
                "@ has % elements; it must have 1 to 8", {Digits(static_cast<std::uint32_t>(count))});
    return;
  }
  *all_ = List<NamedLimit>(count);
  Path element{&place, {}, 0};
  for (std::uint32_t node = array + 1; node < document_[array].next; node = document_[node].next) {
    if (expect(errors_, Kind::object, &element, node, "a limit is %; it must be an object")) {
      PolicyReader(*this, errors_, warnings_, element, node, this).read_limit(*all_, element.index);
    }
    ++element.index;
  }
}

void PolicyReader::read_limit(List<NamedLimit>& all, std::size_t index) {
  all_ = &all;
  index_ = index;
  const std::size_t errors_before = errors_.size();
  read_members();
  const std::optional<Algorithm> by = counting();
  if (policy_ != nullptr) require(limit_name, "name is missing; each of several limits must have it");
  if (by == Algorithm::token_bucket) {
    require(capacity, "capacity is missing; a token bucket must have it");
    if (found_[refill] == 0) {
      require(refill_per_second, "refillPerSecond is missing; a token bucket must have it or refill");
    }
  } else if (by) {
    require(limit, "limit is missing; a window must have it");
    require(window_seconds, "windowSeconds is missing; a window must have it");
  }
  if (by && errors_.size() == errors_before && !report_.starved()) make_limit(*by, all[index].limit);
}

void PolicyReader::require(Member member, const char* sentence) {
  if (found_[member] == 0) add(errors_, ErrorCode::missing_member, &path_, node_, sentence);
}

void PolicyReader::read_name(const Path& place, std::uint32_t value) {
  if (!expect(errors_, Kind::string, &place, value, "@ is %; it must be a string")) return;
  const std::string_view name = document_[value].text;
  const bool fits = !name.empty() && name.size() <= LimitName::longest &&
                    std::all_of(name.begin(), name.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (!fits) {
    add(errors_, ErrorCode::invalid_value, &place, value, "@ is %; it must be 1 to 64 printable ASCII characters",
        value);
    return;
  }
  (*all_)[index_].name = name;
  std::size_t first = 0;
  while (!((*all_)[first].name == name)) ++first;
  if (first != index_) {
    add(errors_, ErrorCode::invalid_value, &place, value, "@ is %, as that of an earlier limit; each must have its own",
        value);
  }
}

void PolicyReader::read_number(Algorithm by, Part part, const Path& place, std::uint32_t value) {
  if (!expect(errors_, Kind::number, &place, value, "@ is %; it must be a number")) return;
  number_nodes_[part] = value;
  numbers_.texts[part] = document_[value].text;

  // Beside numbers that break no rule, whatever breaks one is this.
  Numbers alone;
  alone.texts[part] = numbers_.texts[part];
  Limit made;
  const LimitFault fault = alone.make(by, made);
  if (fault != LimitFault::none && fault != LimitFault::together) {
    add(errors_, ErrorCode::invalid_value, &place, value, part_rules[static_cast<std::size_t>(by)][part], value);
  }
}

void PolicyReader::read_refill(const Path& place, std::uint32_t object) {
  if (!expect(errors_, Kind::object, &place, object, "@ is %; it must be an object with tokens and seconds")) return;
  bool found[] = {false, false};
  for (std::uint32_t name = first_member(object); name < end_of_members(object); name = next_member(name)) {
    if (!report_.available(room_for_limit)) return;
    const Path member{&place, document_[name].text};
    const std::size_t index = index_of(member.name, refill_names, std::size(refill_names));
    if (index == std::size(refill_names)) {
      add(errors_, ErrorCode::unknown_member, &member, name,
          "% is not a member of a refill, which has tokens and seconds", name);
    } else {
      found[index] = true;
      read_number(Algorithm::token_bucket, static_cast<Part>(part_tokens + index), member, name + 1);
    }
  }
  if (!found[0]) add(errors_, ErrorCode::missing_member, &place, object, "tokens is missing; a refill must have it");
  if (!found[1]) add(errors_, ErrorCode::missing_member, &place, object, "seconds is missing; a refill must have it");
}

// Whether the other member says the same thing, and said it first.
bool PolicyReader::conflicts(Member member, Member other, const Path& place) {
  if (found_[other] == 0 || found_[other] > found_[member]) return false;
  add(errors_, ErrorCode::conflicting_members, &place, found_[member],
      "refillPerSecond and refill are both given; a tier must have only one of them");
  return true;
}

void PolicyReader::make_limit(Algorithm by, Limit& made) {
  const LimitFault fault = numbers_.make(by, made);
  made.on_raise = static_cast<OnRaise>(chosen(on_raise));
  made.accrual = static_cast<Accrual>(chosen(accrual));
  const bool per_second = found_[refill_per_second] != 0;
  const std::uint32_t capacity_node = number_nodes_[part_capacity];
  const std::uint32_t tokens = number_nodes_[part_tokens];
  const std::uint32_t seconds = number_nodes_[part_seconds];
  if (fault != LimitFault::none) {  // None of the numbers alone: they were looked at before.
    add(errors_, ErrorCode::not_representable, &path_, node_,
        per_second ? "capacity % and refillPerSecond % do not fit the exact arithmetic together"
                   : "capacity % and a refill of % tokens in % seconds do not fit the exact arithmetic together",
        capacity_node, tokens, seconds);
    return;
  }
  if (made.rounded == Limit::Rounded::capacity || made.rounded == Limit::Rounded::both) {
    const Path place{&path_, member_names[capacity]};
    add(warnings_, ErrorCode::rate_rounded, &place, capacity_node, "@ is %, which does not fit exactly; it is rounded",
        capacity_node);
  }
  if (made.rounded == Limit::Rounded::rate || made.rounded == Limit::Rounded::both) {
    const Member rate = per_second ? refill_per_second : refill;
    const Path place{&path_, member_names[rate]};
    add(warnings_, ErrorCode::rate_rounded, &place, found_[rate] + 1,
        per_second ? "@ is %, which does not fit exactly; it is rounded"
                   : "@ is % tokens in % seconds, which does not fit exactly; it is rounded",
        tokens, seconds);
  }
}

// ---- The document --------------------------------------------------------------------------------------------------

class SetReader : public Reader {
 public:
  SetReader(Document& document, Report& report, PolicySet& set, Errors& refused, bool strict) noexcept
      : Reader(document, report), set_(set), refused_(refused), tolerated_(strict ? refused : set.rejected) {}

  void read();

 private:
  void name_tiers(std::uint32_t object);
  void read_tiers(std::uint32_t object, const Path& path);
  void read_clients(std::uint32_t object, const Path& path);

  PolicySet& set_;
  Errors& refused_;    // what refuses the whole document
  Errors& tolerated_;  // what makes one tier invalid, or one assignment idle
};

constexpr std::string_view top_names[] = {"default", "tiers", "clients"};

void SetReader::read() {
  constexpr std::uint32_t root = 0;
  if (!expect(refused_, Kind::object, nullptr, root, "the document is %; it must be an object")) return;

  // Clients may stand before the tiers that they are assigned to.
  for (std::uint32_t name = first_member(root); name < end_of_members(root); name = next_member(name)) {
    if (document_[name].text == top_names[1] && document_[name + 1].kind == Kind::object) name_tiers(name + 1);
  }
  bool has_default = false;
  for (std::uint32_t name = first_member(root); name < end_of_members(root); name = next_member(name)) {
    const std::uint32_t value = name + 1;
    const Path path{nullptr, document_[name].text};
    const std::size_t member = index_of(path.name, top_names, std::size(top_names));
    if (member == 0) {
      has_default = true;
      PolicyReader(*this, refused_, set_.warnings, path, value).read(set_.default_policy);
    } else if (member < std::size(top_names)) {
      if (!expect(refused_, Kind::object, &path, value, "@ is %; it must be an object")) continue;
      if (member == 1) {
        read_tiers(value, path);
      } else {
        read_clients(value, path);
      }
    } else {
      add(refused_, ErrorCode::unknown_member, &path, name,
          "% is not a member of a policy document, which has default, tiers and clients", name);
    }
    if (report_.starved()) return;
  }
  if (!has_default) {
    add(refused_, ErrorCode::missing_member, nullptr, root, "default is missing; a policy document must have it");
  }
}

void SetReader::name_tiers(std::uint32_t object) {
  const std::span<const std::uint32_t> names = document_.sorted_names(object);
  if (!report_.available(names.size() * sizeof(Tier))) return;
  set_.tiers = List<Tier>(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) set_.tiers[i].name = document_[names[i]].text;
}

void SetReader::read_tiers(std::uint32_t object, const Path& path) {
  for (std::uint32_t name = first_member(object); name < end_of_members(object); name = next_member(name)) {
    if (report_.starved()) return;
    const Path tier{&path, document_[name].text};
    const auto index = static_cast<std::size_t>(set_.find(tier.name) - set_.tiers.data());
    PolicyReader(*this, tolerated_, set_.warnings, tier, name + 1).read(set_.tiers[index].policy);
  }
}

void SetReader::read_clients(std::uint32_t object, const Path& path) {
  std::size_t count = 0;
  for (std::uint32_t name = first_member(object); name < end_of_members(object); name = next_member(name)) ++count;
  if (!report_.available(count * sizeof(ClientTier))) return;
  set_.clients = List<ClientTier>(count);
  ClientTier* assignment = set_.clients.data();
  for (std::uint32_t name = first_member(object); name < end_of_members(object); name = next_member(name)) {
    if (report_.starved()) return;
    const std::uint32_t value = name + 1;
    const Path client{&path, document_[name].text};
    if (!expect(refused_, Kind::string, &client, value, "a client's tier is %; it must be a string")) continue;
    const std::string_view tier = document_[value].text;
    assignment->client = client.name;
    assignment->tier = tier;
    ++assignment;
    if (set_.find(tier) == nullptr) {
      add(tolerated_, ErrorCode::unknown_tier, &client, value, "% is assigned to %, a tier that is not there", name,
          value);
    }
  }
}

}  // namespace

bool read_policies(std::string_view text, bool strict, PolicySet& set, List<Error>& errors) {
  Report report(text);
  {
    Document document;
    if (document.read(text, report, errors)) SetReader(document, report, set, errors, strict).read();
    set.strings = document.strings();
  }
  if (!report.starved()) return errors.empty();
  // The text as it was read is gone by now. What was found goes too, to leave memory for this.
  errors = {};
  add_document_too_large(errors);
  return false;
}

void add_document_too_large(List<Error>& errors) {
  Error& error = errors.emplace_back();
  error.code = ErrorCode::out_of_memory;
  error.message = "the policy document does not fit into memory";
}

Result<PolicySet, List<Error>> PolicySet::from_json(std::string_view text, bool strict) {
  PolicySet set;
  List<Error> errors;
  if (!memory_available(text.size())) {
    add_document_too_large(errors);
    return errors;
  }
  set.text = text;
  if (!read_policies(set.text, strict, set, errors)) return errors;
  return set;
}

const Tier* PolicySet::find(std::string_view name) const noexcept {
  const auto found = std::lower_bound(tiers.begin(), tiers.end(), name,
                                      [](const Tier& tier, std::string_view wanted) { return tier.name < wanted; });
  return found == tiers.end() || found->name != name ? nullptr : &*found;
}

}  // namespace tierlimit
