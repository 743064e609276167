// SPDX-License-Identifier: MIT
#include "json.hpp"

#include <algorithm>
#include <cstring>

#include "tierlimit/decimal.hpp"
#include "utf8.hpp"

// RapidJSON under a name of its own: a program may well link another copy, configured otherwise. Its assertions guard
// against misuse, not against bad text; a text never ends the program.
#define RAPIDJSON_NAMESPACE tierlimit_rapidjson
#define RAPIDJSON_NAMESPACE_BEGIN namespace tierlimit_rapidjson {
#define RAPIDJSON_NAMESPACE_END }
#define RAPIDJSON_ASSERT(condition) static_cast<void>(0)
#define RAPIDJSON_FORCEINLINE  // Small rather than fast.
#ifdef __clang__
// Its empty stack compares a null pointer plus an offset with a null pointer.
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/reader.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#if RAPIDJSON_MAJOR_VERSION == 1 && RAPIDJSON_MINOR_VERSION < 1
#error "RapidJSON 1.1 or newer is needed: before, it reads on behind the end of a text."
#endif

namespace rapid = tierlimit_rapidjson;

namespace tierlimit::json {
namespace {

using utf8::byte_at;
using utf8::sequence_length;

constexpr std::size_t escape_size = 6;  // \uXXXX
constexpr const char* alone = "% is half of a surrogate pair; it stands for nothing alone";

bool is_white_space(char c) noexcept { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_letter(char c) noexcept { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

std::size_t mark_size(std::string_view text) noexcept {
  return text.starts_with(utf8::byte_order_mark) ? utf8::byte_order_mark.size() : 0;
}

unsigned hex_value(std::string_view digits) noexcept {
  unsigned value = 0;
  for (const char c : digits) value = value * 16 + (c <= '9' ? unsigned(c - '0') : unsigned((c | 0x20) - 'a') + 10);
  return value;
}

// U+0041 or 0x41.
class Hex {
 public:
  Hex(std::string_view prefix, unsigned value, std::size_t digits) noexcept : size_(prefix.size() + digits) {
    prefix.copy(chars_, prefix.size());
    for (std::size_t i = size_; i-- > prefix.size(); value >>= 4) chars_[i] = "0123456789ABCDEF"[value & 15];
  }
  operator std::string_view() const noexcept { return {chars_, size_}; }

 private:
  char chars_[6];
  std::size_t size_;
};

// Offset in a string's source, valid but for this, of the first escape that is half a surrogate pair.
std::size_t lone_surrogate_escape(std::string_view source) noexcept {
  for (std::size_t at = 0; at < source.size();) {
    std::size_t length = source[at] == '\\' ? 2 : 1;
    if (length == 2 && byte_at(source, at + 1) == 'u') {
      const unsigned unit = hex_value(source.substr(at + 2, 4));
      if (unit >= 0xDC00 && unit <= 0xDFFF) return at;
      length = unit >= 0xD800 && unit < 0xDC00 ? 12 : 6;
    }
    at += length;
  }
  return 0;
}

// The text as RapidJSON reads it. A NUL stands for the end, as it does in the text to RapidJSON.
class Source {
 public:
  using Ch = char;

  explicit Source(std::string_view text) noexcept : text_(text), at_(mark_size(text)) {}

  [[nodiscard]] Ch Peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  Ch Take() noexcept { return text_[at_++]; }
  [[nodiscard]] std::size_t Tell() const noexcept { return at_; }

  // Only for reading in place, which is not done here.
  Ch* PutBegin() noexcept { return nullptr; }
  void Put(Ch) noexcept {}
  void Flush() noexcept {}
  std::size_t PutEnd(Ch*) noexcept { return 0; }

  // Takes whatever may be meant as a number.
  std::string_view take_number() noexcept {
    const std::size_t begin = at_;
    if (!starts_number(Peek())) return {};
    while (starts_number(Peek()) || is_letter(Peek())) ++at_;
    return text_.substr(begin, at_ - begin);
  }

 private:
  static bool starts_number(char c) noexcept { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.'; }

  std::string_view text_;
  std::size_t at_;
};

// The reader's stack, in memory that was had beforehand and that is large enough for any text of its size.
class Scratch {
 public:
  [[maybe_unused]] static constexpr bool kNeedFree = false;

  [[nodiscard]] bool allocate(std::size_t text_size) noexcept {
    // The longest string with its closing NUL, and what an open container takes.
    size_ = text_size + 1 + std::size_t{max_depth + 1} * 2 * sizeof(rapid::SizeType);
    return memory_.allocate(size_);
  }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

  void* Malloc(std::size_t) noexcept { return memory_.data(); }
  void* Realloc(void*, std::size_t, std::size_t) noexcept { return memory_.data(); }
  static void Free(void*) noexcept {}

 private:
  Block<char> memory_;
  std::size_t size_ = 0;
};

using Reader = rapid::GenericReader<rapid::UTF8<>, rapid::UTF8<>, Scratch>;

// What RapidJSON calls. The first time over the text it counts and refuses, the second time it fills what was allocated
// in between.
class Handler {
 public:
  Handler(std::string_view text, const Source& source, Report& report, List<Error>& errors) noexcept
      : text_(text), source_(source), report_(report), errors_(errors), previous_end_(mark_size(text)) {}

  void fill(Node* nodes, char* strings) noexcept {
    nodes_ = nodes;
    strings_ = strings;
  }

  bool Null() noexcept { return append(Kind::null, token()); }
  bool Bool(bool) noexcept { return append(Kind::boolean, token()); }
  bool number(std::string_view token) {
    if (nodes_ == nullptr && !Decimal::parse(token)) {
      return refuse(ErrorCode::syntax, offset(token), "expected a number as JSON spells it, found %", Excerpt(token));
    }
    return append(Kind::number, token);
  }
  bool String(const char* decoded, rapid::SizeType size, bool) { return string(Kind::string, {decoded, size}); }
  bool Key(const char* decoded, rapid::SizeType size, bool) { return string(Kind::name, {decoded, size}); }
  bool StartObject() { return open(Kind::object); }
  bool StartArray() { return open(Kind::array); }
  bool EndObject(rapid::SizeType members) noexcept {
    most_members_ = std::max(most_members_, members);
    return close();
  }
  bool EndArray(rapid::SizeType) noexcept { return close(); }

  [[nodiscard]] std::uint32_t node_count() const noexcept { return count_; }
  [[nodiscard]] std::size_t string_bytes() const noexcept { return string_bytes_; }
  [[nodiscard]] std::uint32_t most_members() const noexcept { return most_members_; }

 private:
  [[nodiscard]] std::size_t offset(std::string_view token) const noexcept {
    return static_cast<std::size_t>(token.data() - text_.data());
  }
  // RapidJSON tells of a bracket at times before, at times behind it. Since the token before it only these can stand.
  [[nodiscard]] std::size_t start() const noexcept {
    std::size_t at = previous_end_;
    while (at < text_.size() && (is_white_space(text_[at]) || text_[at] == ',' || text_[at] == ':')) ++at;
    return at;
  }
  // Of all other tokens it tells behind them.
  [[nodiscard]] std::string_view token() const noexcept {
    const std::size_t begin = start();
    return text_.substr(begin, source_.Tell() - begin);
  }

  bool refuse(ErrorCode code, std::size_t at, const char* sentence, std::string_view value = {}) {
    report_.add(errors_, code, nullptr, at, sentence, {value});
    return false;
  }

  bool append(Kind kind, std::string_view token) noexcept { return append(kind, token, token); }
  bool append(Kind kind, std::string_view token, std::string_view says) noexcept {
    if (nodes_ != nullptr) {
      const std::uint32_t next = kind == Kind::name ? 0 : count_ + 1;
      nodes_[count_] = Node{says, static_cast<std::uint32_t>(offset(token)), next, kind};
    }
    ++count_;
    previous_end_ = offset(token) + token.size();
    return true;
  }

  bool string(Kind kind, std::string_view decoded) {
    const std::string_view quoted = token();
    std::string_view says = quoted.substr(1, quoted.size() - 2);
    // Every escape is longer than what it stands for.
    if (says.size() != decoded.size()) {
      for (std::size_t at = 0; at < decoded.size(); ++at) {
        if (!utf8::is_surrogate(decoded, at)) continue;
        const std::size_t escape = offset(says) + lone_surrogate_escape(says);
        return refuse(ErrorCode::lone_surrogate, escape, alone, text_.substr(escape, escape_size));
      }
      if (nodes_ != nullptr) {
        char* const copy = strings_ + string_bytes_;
        std::memcpy(copy, decoded.data(), decoded.size());
        says = {copy, decoded.size()};
      }
      string_bytes_ += decoded.size();
    }
    return append(kind, quoted, says);
  }

  bool open(Kind kind) {
    const std::size_t begin = start();
    if (depth_ == max_depth) {
      static_assert(max_depth == 32);
      return refuse(ErrorCode::too_deep, begin, "this is level 33 of nesting; 32 are allowed");
    }
    open_[depth_++] = count_;
    return append(kind, text_.substr(begin, 1));
  }

  bool close() noexcept {
    --depth_;
    if (nodes_ != nullptr) nodes_[open_[depth_]].next = count_;
    previous_end_ = start() + 1;
    return true;
  }

  std::string_view text_;
  const Source& source_;
  Report& report_;
  List<Error>& errors_;
  Node* nodes_ = nullptr;
  char* strings_ = nullptr;
  std::size_t previous_end_;
  std::size_t string_bytes_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t most_members_ = 0;
  std::uint32_t depth_ = 0;
  std::uint32_t open_[max_depth];  // containers around the next token
};

}  // namespace
}  // namespace tierlimit::json

// Iterative parsing never comes to these.
template <>
template <>
void tierlimit::json::Reader::ParseObject<rapid::kParseIterativeFlag>(tierlimit::json::Source&,
                                                                      tierlimit::json::Handler&) {}
template <>
template <>
void tierlimit::json::Reader::ParseArray<rapid::kParseIterativeFlag>(tierlimit::json::Source&,
                                                                     tierlimit::json::Handler&) {}

// To RapidJSON a number is whatever is no other token. How numbers are spelled and how large they may be is for Decimal
// to say, exactly; RapidJSON would refuse 0e309 and others for roundings of its own.
template <>
template <>
void tierlimit::json::Reader::ParseNumber<rapid::kParseIterativeFlag>(tierlimit::json::Source& source,
                                                                      tierlimit::json::Handler& handler) {
  const std::string_view number = source.take_number();
  if (number.empty()) {
    SetParseError(rapid::kParseErrorValueInvalid, source.Tell());
  } else if (!handler.number(number)) {
    SetParseError(rapid::kParseErrorTermination, source.Tell());
  }
}

namespace tierlimit::json {
namespace {

// One place for both passes, so that RapidJSON's reader is compiled once.
rapid::ParseResult run(Source& source, Handler& handler, Scratch& scratch) {
  return Reader(&scratch, scratch.size()).Parse<rapid::kParseIterativeFlag>(source, handler);
}

std::string_view expectation(rapid::ParseErrorCode code) noexcept {
  switch (code) {
    case rapid::kParseErrorNone:  // a NUL
    case rapid::kParseErrorDocumentRootNotSingular: return "expected nothing after the document";
    case rapid::kParseErrorDocumentEmpty: return "expected a policy document";
    case rapid::kParseErrorObjectMissName: return "expected a member name in double quotes";
    case rapid::kParseErrorObjectMissColon: return "expected a colon after the member name";
    case rapid::kParseErrorObjectMissCommaOrCurlyBracket: return "expected a comma or }";
    case rapid::kParseErrorArrayMissCommaOrSquareBracket: return "expected a comma or ]";
    case rapid::kParseErrorStringUnicodeEscapeInvalidHex: return "expected four hexadecimal digits after \\u";
    case rapid::kParseErrorStringEscapeInvalid: return "expected a character or an escape that JSON has";
    case rapid::kParseErrorStringMissQuotationMark: return "expected the double quote that ends the string";
    default: return "expected a value";
  }
}

// What is shown of the text where it goes wrong.
std::string_view misfit(std::string_view text, std::size_t at) noexcept {
  std::size_t end = at;
  while (end < text.size() && is_letter(text[end])) ++end;
  if (end == at) end += sequence_length(text, end);
  if (byte_at(text, at) == '\\') end += sequence_length(text, end);
  return text.substr(at, end - at);
}

void add_syntax_error(std::string_view text, rapid::ParseErrorCode code, std::size_t at, Report& report,
                      List<Error>& errors) {
  if (code == rapid::kParseErrorStringUnicodeSurrogateInvalid) {
    report.add(errors, ErrorCode::lone_surrogate, nullptr, at, alone, {text.substr(at, escape_size)});
    return;
  }
  const auto add = [&](std::string_view found, std::string_view rest = {}) {
    report.add(errors, ErrorCode::syntax, nullptr, at, "%, found %%", {expectation(code), found, rest});
  };
  // A misspelled word is refused at the letter that is wrong, but is wrong from its beginning.
  if (code == rapid::kParseErrorValueInvalid) {
    while (at > 0 && is_letter(text[at - 1])) --at;
  }
  if (at >= text.size()) {
    add("the end of the text");
    return;
  }
  const std::string_view found = misfit(text, at);
  std::size_t before = at;
  while (before > 0 && is_white_space(text[before - 1])) --before;
  const bool after_comma = before > 0 && text[before - 1] == ',';
  const unsigned byte = byte_at(found, 0);
  if (byte < 0x20 || byte == 0x7F) {
    add(Hex("U+", byte, 4));
  } else if (found == utf8::byte_order_mark) {
    add("a byte order mark");
  } else if (byte == '/') {
    add(found, "; JSON has no comments");
  } else if (after_comma && (byte == '}' || byte == ']')) {
    add(found, "; JSON has no comma after the last member");
  } else {
    add(Excerpt(found));
  }
}

}  // namespace

bool Document::read(std::string_view text, Report& report, List<Error>& errors) {
  text_ = text;
  if (text.size() >= UINT32_MAX) {
    report.starve();
    return false;
  }
  if (!check_encoding(report, errors) || !parse(report, errors)) return false;
  check_names_and_numbers(report, errors);
  return errors.empty() && !report.starved();
}

bool Document::check_encoding(Report& report, List<Error>& errors) const {
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t length = sequence_length(text_, at);
    at += length;
    if (length != 0) continue;
    if (utf8::is_surrogate(text_, at)) {
      const unsigned unit = 0xD000 | (byte_at(text_, at + 1) & 0x3F) << 6 | (byte_at(text_, at + 2) & 0x3F);
      report.add(errors, ErrorCode::lone_surrogate, nullptr, at, alone, {Hex("U+", unit, 4)});
    } else {
      report.add(errors, ErrorCode::invalid_utf8, nullptr, at,
                 "byte % begins no character here; the text must be UTF-8", {Hex("0x", byte_at(text_, at), 2)});
    }
    return false;
  }
  return true;
}

bool Document::parse(Report& report, List<Error>& errors) {
  Scratch scratch;
  if (!scratch.allocate(text_.size())) {
    report.starve();
    return false;
  }
  Source source(text_);
  Handler counter(text_, source, report, errors);
  const rapid::ParseResult result = run(source, counter, scratch);
  if (!errors.empty() || report.starved()) return false;
  // RapidJSON takes a NUL for the end of the text.
  if (result.IsError() || source.Tell() != text_.size()) {
    add_syntax_error(text_, result.Code(), result.IsError() ? result.Offset() : source.Tell(), report, errors);
    return false;
  }

  node_count_ = counter.node_count();
  if (!nodes_.allocate(node_count_) || !strings_.allocate(counter.string_bytes()) ||
      !order_.allocate(counter.most_members())) {
    report.starve();
    return false;
  }
  Source again(text_);
  Handler filler(text_, again, report, errors);
  filler.fill(nodes_.data(), strings_.data());
  run(again, filler, scratch);
  return true;
}

std::span<const std::uint32_t> Document::sorted_names(std::uint32_t object) noexcept {
  std::uint32_t* const names = order_.data();
  std::size_t count = 0;
  for (std::uint32_t name = object + 1; name < nodes_[object].next; name = nodes_[name + 1].next) {
    names[count++] = name;
  }
  // Equal names come in the order of the text.
  const auto before = [&](std::size_t i, std::size_t k) {
    const int order = nodes_[names[i]].text.compare(nodes_[names[k]].text);
    return order != 0 ? order < 0 : names[i] < names[k];
  };
  // A heap sort takes n log n whatever names an attacker chooses. First all becomes a heap, from its end to `root`;
  // then the last of what is left goes behind it, again and again.
  for (std::size_t root = count / 2, left = count; left > 1;) {
    if (root > 0) {
      --root;
    } else {
      std::swap(names[0], names[--left]);
    }
    for (std::size_t parent = root, child; (child = 2 * parent + 1) < left; parent = child) {
      if (child + 1 < left && before(child, child + 1)) ++child;
      if (!before(parent, child)) break;
      std::swap(names[parent], names[child]);
    }
  }
  return {names, count};
}

// Lets the `next` of each name that was given before be the first node that gives it.
void Document::link_equal_names(std::uint32_t object) noexcept {
  std::uint32_t first = 0;
  for (const std::uint32_t name : sorted_names(object)) {
    if (first != 0 && nodes_[name].text == nodes_[first].text) {
      nodes_[name].next = first;
    } else {
      first = name;
    }
  }
}

void Document::check_names_and_numbers(Report& report, List<Error>& errors) {
  std::uint32_t open[max_depth];  // containers around the node
  Path paths[max_depth];          // in each of them, the child that is or contains the node
  std::uint32_t depth = 0;
  for (std::uint32_t node = 0; node < node_count_ && !report.starved(); ++node) {
    const Node& here = nodes_[node];
    while (depth > 0 && node == nodes_[open[depth - 1]].next) --depth;
    Path* const path = depth == 0 ? nullptr : &paths[depth - 1];

    if (here.kind == Kind::name) {
      path->name = here.text;
      if (here.next != 0) {
        const Position first = report.position(nodes_[here.next].offset);
        const Position again = report.position(here.offset);
        report.add(errors, ErrorCode::duplicate_member, path, here.offset,
                   "% is given at %:% and again at %:%; an object has each member once",
                   {source(node), Digits(first.line), Digits(first.column), Digits(again.line), Digits(again.column)});
      }
      continue;
    }
    // Elements are numbered from 0, which the first of them makes of this.
    if (depth > 0 && nodes_[open[depth - 1]].kind == Kind::array) ++path->index;
    if (here.kind == Kind::number && !Decimal::parse(here.text)->within_double_range()) {
      report.add(errors, ErrorCode::number_out_of_range, path, here.offset, "% is beyond the range of a double",
                 {source(node)});
    }
    if (here.kind == Kind::object) link_equal_names(node);
    if (here.kind == Kind::object || here.kind == Kind::array) {
      open[depth] = node;
      paths[depth] = Path{path, {}, UINT32_MAX};
      ++depth;
    }
  }
}

Excerpt Document::source(std::uint32_t node) const noexcept {
  const Node& here = nodes_[node];
  if (here.kind == Kind::object) return Excerpt("an object");
  if (here.kind == Kind::array) return Excerpt("an array");
  if (here.kind != Kind::string && here.kind != Kind::name) return Excerpt(here.text);
  std::size_t end = here.offset + 1;
  while (text_[end] != '"') end += text_[end] == '\\' ? 2u : 1u;
  return Excerpt(text_.substr(here.offset, end + 1 - here.offset));
}

}  // namespace tierlimit::json
