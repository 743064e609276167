// SPDX-License-Identifier: MIT
#include "tierlimit/policy_set.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <utility>

#include "json.hpp"
#include "limit.hpp"
#include "policy_reader.hpp"
#include "report.hpp"

namespace tierlimit {
namespace {

using json::Document;
using json::Kind;

using Errors = std::vector<Error>;

// What an allocation costs beside its content.
constexpr std::size_t allocation_overhead = 32;
// More than the exact arithmetic of one limit takes.
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
  void add(Errors& errors, ErrorCode code, const Path* path, std::uint32_t place, std::string_view sentence,
           std::uint32_t first = 0, std::uint32_t second = 0, std::uint32_t third = 0) {
    report_.add(errors, code, path, document_[place].offset, sentence,
                {document_.source(first), document_.source(second), document_.source(third)});
  }

  bool expect(Errors& errors, Kind kind, const Path* path, std::uint32_t value, std::string_view sentence) {
    if (document_[value].kind == kind) return true;
    add(errors, ErrorCode::wrong_type, path, value, sentence, value);
    return false;
  }

  Document& document_;
  Report& report_;
};

// ---- A policy ------------------------------------------------------------------------------------------------------

enum Member : std::size_t {
  capacity,
  refill_per_second,
  refill,
  algorithm,
  on_raise,
  accrual,
  on_store_error,
  limits,
  limit,
  window_seconds,
  member_count
};
constexpr std::string_view member_names[member_count] = {"capacity", "refillPerSecond", "refill",       "algorithm",
                                                         "onRaise",  "accrual",         "onStoreError", "limits",
                                                         "limit",    "windowSeconds"};

// A member that names one of several ways to behave; the first `built` of them are there today.
struct Choice {
  Member member;
  std::size_t built;
  std::size_t count;
  std::string_view names[4];
  std::string_view rule;
};
constexpr Choice choices[] = {
    {algorithm,
     1,
     3,
     {"token-bucket", "sliding-window", "fixed-window"},
     "@ is %; it must be token-bucket, sliding-window or fixed-window"},
    {on_raise, 1, 4, {"keep", "fill", "proportional", "add"}, "@ is %; it must be keep, fill, proportional or add"},
    {accrual, 1, 2, {"at-next", "prorated"}, "@ is %; it must be at-next or prorated"},
    {on_store_error, 0, 3, {"deny", "allow", "local"}, "@ is %; it must be deny, allow or local"},
};
constexpr const Choice& algorithms = choices[0];

// The numbers of a limit, as Limit::make takes them.
enum Part : std::size_t { part_capacity, part_tokens, part_seconds, part_count };
constexpr std::string_view part_rules[part_count] = {"@ is %; it must be at least 1", "@ is %; it must be at least 0",
                                                     "@ is %; it must be more than 0"};
constexpr std::string_view refill_names[] = {"tokens", "seconds"};

// The texts of the numbers. These break no rule, and stand in for numbers that are not there.
struct Numbers {
  std::string_view texts[part_count] = {"1", "0", "1"};

  [[nodiscard]] LimitFault make(Limit& limit) const {
    return make_limit(*Decimal::parse(texts[part_capacity]), *Decimal::parse(texts[part_tokens]),
                      *Decimal::parse(texts[part_seconds]), limit);
  }
};

class PolicyReader : public Reader {
 public:
  PolicyReader(const Reader& reader, Errors& errors, Errors& warnings, const Path& path, std::uint32_t node) noexcept
      : Reader(reader), errors_(errors), warnings_(warnings), path_(path), node_(node) {}

  std::optional<Policy> read();

 private:
  // Which members belong here. Unclear: the algorithm is none that is known, so nothing is missed or out of place.
  enum class Shape : std::uint8_t { token_bucket, other, unclear };

  [[nodiscard]] Shape shape() const noexcept;

  void read_member(std::uint32_t name);
  void read_choice(const Choice& choice, const Path& place, std::uint32_t value);
  void read_number(Part part, const Path& place, std::uint32_t value);
  void read_refill(const Path& place, std::uint32_t object);
  bool conflicts(Member member, Member other, const Path& place);
  void require_members();
  std::optional<Limit> make_limit();

  Errors& errors_;
  Errors& warnings_;
  const Path& path_;
  std::uint32_t node_;
  std::uint32_t found_[member_count] = {};
  Shape shape_ = Shape::token_bucket;
  Numbers numbers_;
  std::uint32_t number_nodes_[part_count] = {};
};

std::optional<Policy> PolicyReader::read() {
  if (!report_.available(room_for_limit)) return std::nullopt;
  if (!expect(errors_, Kind::object, &path_, node_, "a policy is %; it must be an object")) return std::nullopt;
  const std::size_t errors_before = errors_.size();

  for (std::uint32_t name = first_member(node_); name < end_of_members(node_); name = next_member(name)) {
    const std::size_t member = index_of(document_[name].text, member_names, member_count);
    if (member != member_count) found_[member] = name;
  }
  shape_ = shape();
  for (std::uint32_t name = first_member(node_); name < end_of_members(node_); name = next_member(name)) {
    read_member(name);
  }
  if (shape_ == Shape::token_bucket) require_members();
  if (errors_.size() != errors_before || report_.starved()) return std::nullopt;

  const std::optional<Limit> made = make_limit();
  if (!made) return std::nullopt;
  Policy policy;
  policy.limits.push_back({"main", *made});
  return policy;
}

PolicyReader::Shape PolicyReader::shape() const noexcept {
  if (found_[limits] != 0) return Shape::other;
  if (found_[algorithm] == 0) return Shape::token_bucket;
  const json::Node& value = document_[found_[algorithm] + 1];
  if (value.kind != Kind::string) return Shape::unclear;
  const std::size_t index = index_of(value.text, algorithms.names, algorithms.count);
  return index == 0 ? Shape::token_bucket : index < algorithms.count ? Shape::other : Shape::unclear;
}

void PolicyReader::read_member(std::uint32_t name) {
  const std::uint32_t value = name + 1;
  const Path place{&path_, document_[name].text};
  switch (const auto member = static_cast<Member>(index_of(place.name, member_names, member_count))) {
    case capacity:
      if (shape_ != Shape::other) read_number(part_capacity, place, value);
      break;
    case refill_per_second:
      if (shape_ != Shape::other && !conflicts(member, refill, place)) read_number(part_tokens, place, value);
      break;
    case refill:
      if (shape_ != Shape::other && !conflicts(member, refill_per_second, place)) read_refill(place, value);
      break;
    case algorithm:
    case on_raise:
    case accrual:
    case on_store_error:
      read_choice(*std::find_if(choices, std::end(choices), [=](const Choice& each) { return each.member == member; }),
                  place, value);
      break;
    case limits:
      add(errors_, ErrorCode::unsupported, &place, name, "@ is not supported by this version; a tier has one limit");
      break;
    case limit:
    case window_seconds:
      if (shape_ == Shape::token_bucket) {
        add(errors_, ErrorCode::unknown_member, &place, name,
            "@ means nothing without the algorithm sliding-window or fixed-window");
      }
      break;
    case member_count:
      add(errors_, ErrorCode::unknown_member, &place, name,
          "% is not a member of a tier, which has capacity and refillPerSecond or refill", name);
      break;
  }
}

void PolicyReader::read_choice(const Choice& choice, const Path& place, std::uint32_t value) {
  if (!expect(errors_, Kind::string, &place, value, "@ is %; it must be a string")) return;
  const std::size_t index = index_of(document_[value].text, choice.names, choice.count);
  if (index == choice.count) {
    add(errors_, ErrorCode::invalid_value, &place, value, choice.rule, value);
  } else if (index >= choice.built) {
    add(errors_, ErrorCode::unsupported, &place, value, "@ is %, which this version does not support", value);
  }
}

void PolicyReader::read_number(Part part, const Path& place, std::uint32_t value) {
  if (!expect(errors_, Kind::number, &place, value, "@ is %; it must be a number")) return;
  number_nodes_[part] = value;
  numbers_.texts[part] = document_[value].text;

  // Beside numbers that break no rule, whatever breaks one is this.
  Numbers alone;
  alone.texts[part] = numbers_.texts[part];
  Limit limit;
  const LimitFault fault = alone.make(limit);
  if (fault != LimitFault::none && fault != LimitFault::together) {
    add(errors_, ErrorCode::invalid_value, &place, value, part_rules[part], value);
  }
}

void PolicyReader::read_refill(const Path& place, std::uint32_t object) {
  if (!expect(errors_, Kind::object, &place, object, "@ is %; it must be an object with tokens and seconds")) return;
  bool found[] = {false, false};
  for (std::uint32_t name = first_member(object); name < end_of_members(object); name = next_member(name)) {
    const Path member{&place, document_[name].text};
    const std::size_t index = index_of(member.name, refill_names, std::size(refill_names));
    if (index == std::size(refill_names)) {
      add(errors_, ErrorCode::unknown_member, &member, name,
          "% is not a member of a refill, which has tokens and seconds", name);
    } else {
      found[index] = true;
      read_number(static_cast<Part>(part_tokens + index), member, name + 1);
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

void PolicyReader::require_members() {
  if (found_[capacity] == 0) {
    add(errors_, ErrorCode::missing_member, &path_, node_, "capacity is missing; a tier must have it");
  }
  if (found_[refill_per_second] == 0 && found_[refill] == 0) {
    add(errors_, ErrorCode::missing_member, &path_, node_, "refillPerSecond is missing; a tier must have it or refill");
  }
}

std::optional<Limit> PolicyReader::make_limit() {
  Limit limit;
  const LimitFault fault = numbers_.make(limit);
  const bool per_second = found_[refill_per_second] != 0;
  const std::uint32_t capacity_node = number_nodes_[part_capacity];
  const std::uint32_t tokens = number_nodes_[part_tokens];
  const std::uint32_t seconds = number_nodes_[part_seconds];
  if (fault != LimitFault::none) {  // None of the numbers alone: they were looked at before.
    add(errors_, ErrorCode::not_representable, &path_, node_,
        per_second ? "capacity % and refillPerSecond % do not fit the exact arithmetic together"
                   : "capacity % and a refill of % tokens in % seconds do not fit the exact arithmetic together",
        capacity_node, tokens, seconds);
    return std::nullopt;
  }
  if (limit.rounded == Limit::Rounded::capacity || limit.rounded == Limit::Rounded::both) {
    const Path place{&path_, member_names[capacity]};
    add(warnings_, ErrorCode::rate_rounded, &place, capacity_node, "@ is %, which does not fit exactly; it is rounded",
        capacity_node);
  }
  if (limit.rounded == Limit::Rounded::rate || limit.rounded == Limit::Rounded::both) {
    const Member rate = per_second ? refill_per_second : refill;
    const Path place{&path_, member_names[rate]};
    add(warnings_, ErrorCode::rate_rounded, &place, found_[rate] + 1,
        per_second ? "@ is %, which does not fit exactly; it is rounded"
                   : "@ is % tokens in % seconds, which does not fit exactly; it is rounded",
        tokens, seconds);
  }
  return limit;
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

void SetReader::read() {
  constexpr std::uint32_t root = 0;
  if (!expect(refused_, Kind::object, nullptr, root, "the document is %; it must be an object")) return;

  // Clients may stand before the tiers that they are assigned to.
  for (std::uint32_t name = first_member(root); name < end_of_members(root); name = next_member(name)) {
    if (document_[name].text == "tiers" && document_[name + 1].kind == Kind::object) name_tiers(name + 1);
  }
  bool has_default = false;
  for (std::uint32_t name = first_member(root); name < end_of_members(root); name = next_member(name)) {
    const std::uint32_t value = name + 1;
    const Path path{nullptr, document_[name].text};
    if (path.name == "default") {
      has_default = true;
      const std::optional<Policy> policy = PolicyReader(*this, refused_, set_.warnings, path, value).read();
      if (policy) set_.default_policy = *policy;
    } else if (path.name == "tiers") {
      if (expect(refused_, Kind::object, &path, value, "@ is %; it must be an object")) read_tiers(value, path);
    } else if (path.name == "clients") {
      if (expect(refused_, Kind::object, &path, value, "@ is %; it must be an object")) read_clients(value, path);
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
  std::size_t bytes = allocation_overhead + names.size() * (sizeof(Tier) + allocation_overhead);
  for (const std::uint32_t name : names) bytes += document_[name].text.size();
  if (!report_.available(bytes)) return;
  set_.tiers = std::vector<Tier>(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) set_.tiers[i].name = document_[names[i]].text;
}

void SetReader::read_tiers(std::uint32_t object, const Path& path) {
  for (std::uint32_t name = first_member(object); name < end_of_members(object); name = next_member(name)) {
    if (report_.starved()) return;
    const Path tier{&path, document_[name].text};
    const auto index = static_cast<std::size_t>(set_.find(tier.name) - set_.tiers.data());
    set_.tiers[index].policy = PolicyReader(*this, tolerated_, set_.warnings, tier, name + 1).read();
  }
}

void SetReader::read_clients(std::uint32_t object, const Path& path) {
  std::size_t count = 0;
  std::size_t bytes = allocation_overhead;
  for (std::uint32_t name = first_member(object); name < end_of_members(object); name = next_member(name)) {
    ++count;
    bytes += sizeof(ClientTier) + document_[name].text.size() + document_[name + 1].text.size();
    bytes += 2 * allocation_overhead;
  }
  if (!report_.available(bytes)) return;
  set_.clients = std::vector<ClientTier>(count);
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

bool read_policies(std::string_view text, bool strict, PolicySet& set, std::vector<Error>& errors) {
  Report report(text);
  {
    Document document;
    if (document.read(text, report, errors)) SetReader(document, report, set, errors, strict).read();
  }
  if (!report.starved()) return errors.empty();
  // The text as it was read is gone by now. What was found goes too, to leave memory for this.
  Errors{}.swap(errors);
  add_document_too_large(errors);
  return false;
}

void add_document_too_large(std::vector<Error>& errors) {
  Error& error = errors.emplace_back();
  error.code = ErrorCode::out_of_memory;
  error.message = "the policy document does not fit into memory";
}

Result<PolicySet, std::vector<Error>> PolicySet::from_json(std::string_view text, bool strict) {
  PolicySet set;
  std::vector<Error> errors;
  if (!read_policies(text, strict, set, errors)) return errors;
  return set;
}

const Tier* PolicySet::find(std::string_view name) const noexcept {
  const auto found = std::lower_bound(tiers.begin(), tiers.end(), name,
                                      [](const Tier& tier, std::string_view wanted) { return tier.name < wanted; });
  return found == tiers.end() || found->name != name ? nullptr : &*found;
}

}  // namespace tierlimit
