// SPDX-License-Identifier: MIT
#include "json.hpp"

#include <algorithm>
#include <cstring>

#include "tierlimit/decimal.hpp"

// RapidJSON under a name of its own: a program may well link another copy, configured otherwise. Its assertions guard
// against misuse, not against bad text; a text never ends the program.
#define RAPIDJSON_NAMESPACE tierlimit_rapidjson
#define RAPIDJSON_NAMESPACE_BEGIN namespace tierlimit_rapidjson {
#define RAPIDJSON_NAMESPACE_END }
#define RAPIDJSON_ASSERT(condition) static_cast<void>(0)
#include <rapidjson/reader.h>

namespace rapid = tierlimit_rapidjson;

namespace tierlimit::json {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
constexpr std::string_view white_space = " \t\n\r";

// Decimals are short strings or, however long the number is, of some hundred digits.
constexpr std::size_t room_for_decimals = 16 << 10;

bool is_space(char c) noexcept { return white_space.find(c) != std::string_view::npos; }

bool is_letter(char c) noexcept { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

std::size_t mark_size(std::string_view text) noexcept {
  return text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
}

unsigned byte_at(std::string_view text, std::size_t at) noexcept {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

bool is_continuation(unsigned byte) noexcept { return (byte & 0xC0) == 0x80; }

// Length of the UTF-8 sequence at `at`; 0 when it is not one.
std::size_t sequence_length(std::string_view text, std::size_t at) noexcept {
  const unsigned lead = byte_at(text, at);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  // Overlong forms, surrogates and what is beyond U+10FFFF show in the second byte.
  const unsigned second = byte_at(text, at + 1);
  const unsigned least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (second < least || second > most) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  for (std::size_t i = 2; i < length; ++i) {
    if (!is_continuation(byte_at(text, at + i))) return 0;
  }
  return length;
}

// A surrogate as three bytes of its own: what comes of half a pair in a string of UTF-16.
bool is_surrogate(std::string_view text, std::size_t at) noexcept {
  return byte_at(text, at) == 0xED && byte_at(text, at + 1) >= 0xA0 && byte_at(text, at + 1) <= 0xBF &&
         is_continuation(byte_at(text, at + 2));
}

unsigned hex_value(std::string_view digits) noexcept {
  unsigned value = 0;
  for (const char c : digits) value = value * 16 + (c <= '9' ? unsigned(c - '0') : unsigned((c | 0x20) - 'a') + 10);
  return value;
}

struct Hex {
  char chars[4];
  std::size_t size;
  Hex(unsigned value, std::size_t digits) noexcept : size(digits) {
    for (std::size_t i = digits; i-- > 0; value >>= 4) chars[i] = "0123456789ABCDEF"[value & 15];
  }
  operator std::string_view() const noexcept { return {chars, size}; }
};

// Offset in a string's source, valid but for this, of the first escape that is half a surrogate pair.
std::size_t lone_surrogate_escape(std::string_view source) noexcept {
  for (std::size_t at = source.find('\\'); at != std::string_view::npos;) {
    std::size_t length = 2;
    if (byte_at(source, at + 1) == 'u') {
      const unsigned unit = hex_value(source.substr(at + 2, 4));
      if (unit >= 0xDC00 && unit <= 0xDFFF) return at;
      length = unit >= 0xD800 && unit < 0xDC00 ? 12 : 6;
    }
    at = source.find('\\', at + length);
  }
  return 0;
}

// The text as RapidJSON reads it. Every number is shown to it as a lone 0: how numbers are spelled and how large they
// may be is for Decimal to say, exactly, while RapidJSON refuses 0e309 and others by the roundings of its own.
class Source {
 public:
  using Ch = char;

  Source(std::string_view text, std::size_t begin) noexcept : text_(text), next_(begin) { advance(); }

  [[nodiscard]] Ch Peek() const noexcept { return shown_; }
  Ch Take() noexcept {
    const Ch taken = shown_;
    if (!in_string_) {
      in_string_ = taken == '"';
    } else if (escaped_) {
      escaped_ = false;
    } else {
      escaped_ = taken == '\\';
      in_string_ = taken != '"';
    }
    advance();
    return taken;
  }
  [[nodiscard]] std::size_t Tell() const noexcept { return at_; }

  // Only for reading in place, which is not done here.
  Ch* PutBegin() noexcept { return nullptr; }
  void Put(Ch) noexcept {}
  void Flush() noexcept {}
  std::size_t PutEnd(Ch*) noexcept { return 0; }

 private:
  static bool starts_number(char c) noexcept { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.'; }
  static bool continues_number(char c) noexcept { return starts_number(c) || is_letter(c); }

  void advance() noexcept {
    at_ = next_;
    if (at_ >= text_.size()) {
      shown_ = '\0';
      return;
    }
    shown_ = text_[at_];
    next_ = at_ + 1;
    if (!in_string_ && starts_number(shown_)) {
      shown_ = '0';
      while (next_ < text_.size() && continues_number(text_[next_])) ++next_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t next_;
  char shown_ = '\0';
  bool in_string_ = false;
  bool escaped_ = false;
};

// The reader's stack, in memory that was had beforehand and that is large enough for any text of its size.
class Scratch {
 public:
  [[maybe_unused]] static constexpr bool kNeedFree = false;

  [[nodiscard]] bool allocate(std::size_t text_size) noexcept {
    // The longest string with its closing NUL, and what an open container takes.
    size_ = text_size + 1 + (max_depth + 1) * 2 * sizeof(rapid::SizeType);
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

// What RapidJSON calls. The first time over the text it counts, the second time it fills what was allocated in between.
class Handler : public rapid::BaseReaderHandler<rapid::UTF8<>, Handler> {
 public:
  enum class Refusal : std::uint8_t { none, too_deep, lone_surrogate, not_a_number };

  Handler(std::string_view text, const Source& source) noexcept
      : text_(text), source_(source), previous_end_(mark_size(text)) {}

  void fill(Node* nodes, char* strings) noexcept {
    nodes_ = nodes;
    strings_ = strings;
  }

  bool Null() noexcept { return scalar(Kind::null); }
  bool Bool(bool) noexcept { return scalar(Kind::boolean); }
  bool RawNumber(const char*, rapid::SizeType, bool) {
    if (nodes_ == nullptr && !Decimal::parse(token())) return refuse(Refusal::not_a_number, start());
    return scalar(Kind::number);
  }
  bool String(const char* decoded, rapid::SizeType length, bool) noexcept {
    return string(Kind::string, {decoded, length});
  }
  bool Key(const char* decoded, rapid::SizeType length, bool) noexcept { return string(Kind::name, {decoded, length}); }
  bool StartObject() noexcept { return open(Kind::object); }
  bool StartArray() noexcept { return open(Kind::array); }
  bool EndObject(rapid::SizeType members) noexcept {
    most_members_ = std::max(most_members_, members);
    return close();
  }
  bool EndArray(rapid::SizeType) noexcept { return close(); }

  [[nodiscard]] Refusal refusal() const noexcept { return refusal_; }
  [[nodiscard]] std::size_t refused_at() const noexcept { return refused_at_; }
  [[nodiscard]] std::uint32_t node_count() const noexcept { return count_; }
  [[nodiscard]] std::size_t string_bytes() const noexcept { return string_bytes_; }
  [[nodiscard]] std::uint32_t most_members() const noexcept { return most_members_; }

 private:
  // RapidJSON tells of a token when it is behind it. Since the one before, only these can have come.
  [[nodiscard]] std::size_t start() const noexcept {
    std::size_t at = previous_end_;
    while (at < text_.size() && (is_space(text_[at]) || text_[at] == ',' || text_[at] == ':')) ++at;
    return at;
  }
  [[nodiscard]] std::string_view token() const noexcept {
    const std::size_t from = start();
    return text_.substr(from, source_.Tell() - from);
  }

  bool refuse(Refusal why, std::size_t at) noexcept {
    refusal_ = why;
    refused_at_ = at;
    return false;
  }

  bool append(Kind kind, std::string_view text, std::size_t begin, std::size_t end) noexcept {
    if (nodes_ != nullptr) {
      const std::uint32_t next = kind == Kind::name ? 0 : count_ + 1;
      nodes_[count_] = Node{text, static_cast<std::uint32_t>(begin), next, kind};
    }
    ++count_;
    previous_end_ = end;
    return true;
  }

  bool scalar(Kind kind) noexcept {
    const std::size_t begin = start();
    return append(kind, text_.substr(begin, source_.Tell() - begin), begin, source_.Tell());
  }

  bool string(Kind kind, std::string_view decoded) noexcept {
    const std::size_t begin = start();
    const std::size_t end = source_.Tell();
    std::string_view said = text_.substr(begin + 1, end - begin - 2);
    // Every escape is longer than what it stands for.
    if (said.size() != decoded.size()) {
      for (std::size_t at = decoded.find('\xED'); at != std::string_view::npos; at = decoded.find('\xED', at + 1)) {
        if (is_surrogate(decoded, at)) return refuse(Refusal::lone_surrogate, begin + 1 + lone_surrogate_escape(said));
      }
      if (nodes_ != nullptr) {
        char* const copy = strings_ + string_bytes_;
        std::memcpy(copy, decoded.data(), decoded.size());
        said = {copy, decoded.size()};
      }
      string_bytes_ += decoded.size();
    }
    return append(kind, said, begin, end);
  }

  bool open(Kind kind) noexcept {
    const std::size_t begin = start();
    if (depth_ == max_depth) return refuse(Refusal::too_deep, begin);
    open_[depth_++] = count_;
    return append(kind, text_.substr(begin, 1), begin, begin + 1);
  }

  bool close() noexcept {
    --depth_;
    if (nodes_ != nullptr) nodes_[open_[depth_]].next = count_;
    previous_end_ = start() + 1;
    return true;
  }

  std::string_view text_;
  const Source& source_;
  Node* nodes_ = nullptr;
  char* strings_ = nullptr;
  std::size_t previous_end_;
  std::size_t string_bytes_ = 0;
  std::size_t refused_at_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t most_members_ = 0;
  std::uint32_t depth_ = 0;
  Refusal refusal_ = Refusal::none;
  std::uint32_t open_[max_depth];
};

// One place for both passes, so that RapidJSON's reader is compiled once.
rapid::ParseResult run(Source& source, Handler& handler, Scratch& scratch) {
  Reader reader(&scratch, scratch.size());
  return reader.Parse<rapid::kParseIterativeFlag | rapid::kParseNumbersAsStringsFlag>(source, handler);
}

std::string_view expectation(rapid::ParseErrorCode code) noexcept {
  switch (code) {
    case rapid::kParseErrorNone:
    case rapid::kParseErrorDocumentRootNotSingular:
      return "expected nothing after the document";
    case rapid::kParseErrorDocumentEmpty:
      return "expected a policy document";
    case rapid::kParseErrorObjectMissName:
      return "expected a member name in double quotes";
    case rapid::kParseErrorObjectMissColon:
      return "expected a colon after the member name";
    case rapid::kParseErrorObjectMissCommaOrCurlyBracket:
      return "expected a comma or }";
    case rapid::kParseErrorArrayMissCommaOrSquareBracket:
      return "expected a comma or ]";
    case rapid::kParseErrorStringUnicodeEscapeInvalidHex:
      return "expected four hexadecimal digits after \\u";
    case rapid::kParseErrorStringEscapeInvalid:
      return "expected a character or an escape that JSON has";
    case rapid::kParseErrorStringMissQuotationMark:
      return "expected the double quote that ends the string";
    default:
      return "expected a value";
  }
}

void add_syntax_error(std::string_view text, rapid::ParseErrorCode code, std::size_t at, Reporter& reporter,
                      std::vector<Error>& errors) {
  if (code == rapid::kParseErrorValueInvalid) {
    // A misspelled word is refused at the letter that is wrong; it is shown whole.
    while (at > 0 && is_letter(text[at - 1])) --at;
  }
  std::size_t end = at + sequence_length(text, at);
  if (is_letter(static_cast<char>(byte_at(text, at)))) {
    while (is_letter(static_cast<char>(byte_at(text, end)))) ++end;
  } else if (byte_at(text, at) == '\\') {
    end += sequence_length(text, end);
  }
  const auto add = [&](std::string_view found, std::string_view rest = {}) {
    reporter.add(errors, ErrorCode::syntax, nullptr, at, {expectation(code), ", found ", found, rest});
  };

  if (at >= text.size()) {
    add("the end of the text");
    return;
  }
  const std::string_view before = text.substr(0, at);
  const std::size_t last = before.find_last_not_of(white_space);
  const bool after_comma = last != std::string_view::npos && before[last] == ',';
  const std::string_view found = text.substr(at, end - at);
  const unsigned byte = byte_at(found, 0);
  if (byte < 0x20 || byte == 0x7F) {
    add("U+", Hex(byte, 4));
  } else if (found == byte_order_mark) {
    add("a byte order mark");
  } else if (byte == '/') {
    add(found, "; JSON has no comments");
  } else if (after_comma && (byte == '}' || byte == ']')) {
    add(found, "; JSON has no comma after the last member");
  } else {
    add(Excerpt(found));
  }
}

void locate(std::string_view text, std::size_t from, std::size_t to, Position& position) noexcept {
  for (std::size_t at = from; at < to; ++at) {
    const unsigned byte = byte_at(text, at);
    if (byte == '\r' || byte == '\n') {
      if (byte == '\r' || at == 0 || text[at - 1] != '\r') ++position.line;
      position.column = 1;
    } else if (!is_continuation(byte)) {
      position.column += byte >= 0xF0 ? 2 : 1;
    }
  }
}

std::size_t pointer_size(const Path* path) noexcept {
  std::size_t size = 0;
  for (; path != nullptr; path = path->parent) {
    size += 1 + (path->name.data() == nullptr ? 10 : path->name.size());
    for (const char c : path->name) size += c == '~' || c == '/';
  }
  return size;
}

void append_pointer(std::string& pointer, const Path* path) {
  if (path == nullptr) return;
  append_pointer(pointer, path->parent);
  pointer += '/';
  if (path->name.data() == nullptr) pointer += Digits(path->index);
  for (const char c : path->name) {
    if (c == '~' || c == '/') {
      pointer += c == '~' ? "~0" : "~1";
    } else {
      pointer += c;
    }
  }
}

}  // namespace

Excerpt::Excerpt(std::string_view text) noexcept : size_(std::min(text.size(), longest)) {
  if (size_ < text.size()) {
    while (size_ > 0 && is_continuation(byte_at(text, size_))) --size_;
  }
  std::memcpy(chars_, text.data(), size_);
  if (size_ < text.size()) {
    std::memcpy(chars_ + size_, "...", 3);
    size_ += 3;
  }
}

Digits::Digits(std::uint32_t number) noexcept : first_(chars_ + sizeof chars_) {
  do {
    *--first_ = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
}

bool Reporter::available(std::size_t bytes) noexcept {
  // Through a volatile, because compilers drop an allocation that nothing looks at and take it for granted.
  void* volatile memory = std::malloc(bytes);
  if (memory == nullptr) starved_ = true;
  std::free(memory);
  return !starved_;
}

Position Reporter::position(std::size_t offset) noexcept {
  constexpr std::size_t step = 256;
  const std::size_t begin = mark_size(text_);
  // Without memory for the marks, every position is counted from the beginning.
  if (mark_count_ == 0 && marks_.allocate((text_.size() - begin) / step + 1)) {
    Position position;
    for (std::size_t at = begin; at <= text_.size(); at += step) {
      marks_[mark_count_++] = position;
      locate(text_, at, std::min(at + step, text_.size()), position);
    }
  }
  Position position;
  std::size_t from = begin;
  if (mark_count_ > 0 && offset > begin) {
    const std::size_t mark = (offset - begin) / step;
    position = marks_[mark];
    from += mark * step;
  }
  locate(text_, from, offset, position);
  return position;
}

void Reporter::add(std::vector<Error>& list, ErrorCode code, const Path* path, std::size_t offset,
                   std::initializer_list<std::string_view> sentence) {
  // More than this is no report but an attack: a very long name before very many faults.
  constexpr std::size_t most_reported = std::size_t{256} << 20;
  // What an allocation costs beside its content.
  constexpr std::size_t overhead = 32;

  const std::size_t path_size = pointer_size(path);
  std::size_t message_size = 0;
  for (const std::string_view piece : sentence) message_size += piece.size();
  const std::size_t size = path_size + message_size + sizeof(Error) + 2 * overhead;
  reported_ += size;
  if (reported_ > most_reported) starved_ = true;
  if (starved_) return;
  if (list.size() == list.capacity()) {
    const std::size_t room = std::max(std::size_t{4}, list.capacity() * 2);
    if (!available(room * sizeof(Error) + overhead)) return;
    list.reserve(room);
  }
  if (!available(size)) return;

  Error error;
  error.code = code;
  error.message.reserve(message_size);
  for (const std::string_view piece : sentence) error.message += piece;
  error.path.reserve(path_size);
  append_pointer(error.path, path);
  const Position at = position(offset);
  error.line = at.line;
  error.column = at.column;
  list.push_back(std::move(error));
}

bool Document::read(std::string_view text, Reporter& reporter, std::vector<Error>& errors) {
  text_ = text;
  if (text.size() >= UINT32_MAX) {
    reporter.starve();
    return false;
  }
  if (!scan_encoding(reporter, errors) || !parse(reporter, errors)) return false;
  check_names_and_numbers(reporter, errors);
  return errors.empty() && !reporter.starved();
}

bool Document::scan_encoding(Reporter& reporter, std::vector<Error>& errors) const {
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t length = sequence_length(text_, at);
    if (length == 0) {
      if (is_surrogate(text_, at)) {
        const unsigned unit = 0xD000 | (byte_at(text_, at + 1) & 0x3F) << 6 | (byte_at(text_, at + 2) & 0x3F);
        reporter.add(errors, ErrorCode::lone_surrogate, nullptr, at,
                     {"U+", Hex(unit, 4), " is half of a surrogate pair; it stands for nothing alone"});
      } else {
        reporter.add(
            errors, ErrorCode::invalid_utf8, nullptr, at,
            {"byte 0x", Hex(byte_at(text_, at), 2), " does not begin a character here; the text must be UTF-8"});
      }
      return false;
    }
    at += length;
  }
  return true;
}

bool Document::parse(Reporter& reporter, std::vector<Error>& errors) {
  Scratch scratch;
  if (!scratch.allocate(text_.size()) || !reporter.available(room_for_decimals)) {
    reporter.starve();
    return false;
  }

  Source source(text_, mark_size(text_));
  Handler counter(text_, source);
  const rapid::ParseResult result = run(source, counter, scratch);
  const std::size_t at = counter.refused_at();
  const std::string_view refused = text_.substr(at);
  switch (counter.refusal()) {
    case Handler::Refusal::too_deep:
      reporter.add(errors, ErrorCode::too_deep, nullptr, at,
                   {"this is nested ", Digits(max_depth + 1), " levels deep; at most ", Digits(max_depth),
                    " levels are allowed"});
      return false;
    case Handler::Refusal::lone_surrogate:
      reporter.add(errors, ErrorCode::lone_surrogate, nullptr, at,
                   {refused.substr(0, 6), " is half of a surrogate pair; it stands for nothing alone"});
      return false;
    case Handler::Refusal::not_a_number:
      reporter.add(errors, ErrorCode::syntax, nullptr, at,
                   {"expected a number as JSON spells it, found ", Excerpt(text_.substr(at, source.Tell() - at))});
      return false;
    case Handler::Refusal::none:
      break;
  }
  if (result.Code() == rapid::kParseErrorStringUnicodeSurrogateInvalid) {
    reporter.add(errors, ErrorCode::lone_surrogate, nullptr, result.Offset(),
                 {text_.substr(result.Offset(), 6), " is half of a surrogate pair; it stands for nothing alone"});
    return false;
  }
  // RapidJSON takes a NUL for the end of the text.
  if (result.IsError() || source.Tell() != text_.size()) {
    add_syntax_error(text_, result.Code(), result.IsError() ? result.Offset() : source.Tell(), reporter, errors);
    return false;
  }

  node_count_ = counter.node_count();
  if (!nodes_.allocate(node_count_) || !strings_.allocate(counter.string_bytes()) ||
      !order_.allocate(counter.most_members())) {
    reporter.starve();
    return false;
  }
  Source again(text_, mark_size(text_));
  Handler filler(text_, again);
  filler.fill(nodes_.data(), strings_.data());
  run(again, filler, scratch);
  return true;
}

const std::uint32_t* Document::sorted_names(std::uint32_t object, std::uint32_t& count) const noexcept {
  count = 0;
  for (std::uint32_t name = object + 1; name < nodes_[object].next; name = nodes_[name + 1].next) {
    order_[count++] = name;
  }
  // A heap sort: whatever names an attacker chooses, n log n. Equal names come in the order of the text.
  const auto before = [this](std::uint32_t a, std::uint32_t b) {
    const int order = nodes_[a].text.compare(nodes_[b].text);
    return order != 0 ? order < 0 : a < b;
  };
  std::make_heap(order_.data(), order_.data() + count, before);
  std::sort_heap(order_.data(), order_.data() + count, before);
  return order_.data();
}

void Document::check_names_and_numbers(Reporter& reporter, std::vector<Error>& errors) {
  if (!reporter.available(room_for_decimals)) return;

  struct Level {
    std::uint32_t next;  // node behind the container
    bool array;
  };
  Level levels[max_depth];
  Path paths[max_depth + 1];  // paths[i]: the child that is being visited of the container at levels[i]
  std::size_t depth = 0;

  for (std::uint32_t index = 0; index < node_count_; ++index) {
    while (depth > 0 && index == levels[depth - 1].next) --depth;
    Node& node = nodes_[index];
    Path* const here = depth == 0 ? nullptr : &paths[depth - 1];

    if (node.kind == Kind::name) {
      here->name = node.text;
      // Set when the names of this object were sorted: the first name that says the same.
      if (node.next != 0) {
        const Position first = reporter.position(nodes_[node.next].offset);
        const Position second = reporter.position(node.offset);
        reporter.add(errors, ErrorCode::duplicate_member, here, node.offset,
                     {source(index), " is given twice, at ", Digits(first.line), ":", Digits(first.column), " and ",
                      Digits(second.line), ":", Digits(second.column), "; a member name stands once in an object"});
      }
      continue;
    }

    if (depth > 0 && levels[depth - 1].array) ++here->index;
    if (node.kind == Kind::number && !Decimal::parse(node.text)->within_double_range()) {
      reporter.add(errors, ErrorCode::number_out_of_range, here, node.offset,
                   {source(index), " is beyond the range of a double"});
    } else if (node.kind == Kind::object || node.kind == Kind::array) {
      levels[depth] = {node.next, node.kind == Kind::array};
      paths[depth] = Path{here, {}, UINT32_MAX};
      ++depth;
      if (node.kind == Kind::object) {
        std::uint32_t count = 0;
        const std::uint32_t* const names = sorted_names(index, count);
        std::uint32_t first = 0;
        for (std::uint32_t i = 1; i < count; ++i) {
          if (nodes_[names[i]].text != nodes_[names[first]].text) {
            first = i;
          } else {
            nodes_[names[i]].next = names[first];
          }
        }
      }
    }
    if (reporter.starved()) return;
  }
}

Excerpt Document::source(std::uint32_t index) const noexcept {
  const Node& node = nodes_[index];
  if (node.kind == Kind::object) return Excerpt("an object");
  if (node.kind == Kind::array) return Excerpt("an array");
  if (node.kind != Kind::string && node.kind != Kind::name) return Excerpt(node.text);
  std::size_t end = node.offset + 1;
  while (text_[end] != '"') end += text_[end] == '\\' ? 2u : 1u;
  return Excerpt(text_.substr(node.offset, end + 1 - node.offset));
}

}  // namespace tierlimit::json
