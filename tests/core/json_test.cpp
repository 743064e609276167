// SPDX-License-Identifier: MIT
#include "json.hpp"

#include <rapidjson/document.h>

#include <algorithm>
#include <string>

#include "catch.hpp"

using tierlimit::Digits;
using tierlimit::Error;
using tierlimit::ErrorCode;
using tierlimit::Excerpt;
using tierlimit::List;
using tierlimit::Path;
using tierlimit::Position;
using tierlimit::Report;
using tierlimit::json::Document;
using tierlimit::json::Kind;
using namespace std::string_literals;

namespace {

// A text with the document that it makes, or the errors.
struct Reading {
  explicit Reading(std::string source) : text(std::move(source)), report(text) {
    ok = document.read(text, report, errors);
  }

  std::string text;
  Report report;
  Document document;
  List<Error> errors;
  bool ok = false;
};

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

bool is_syntax_error(const Reading& reading) {
  return !reading.ok &&
         (reading.errors[0].code == ErrorCode::syntax || reading.errors[0].code == ErrorCode::invalid_utf8);
}

// Position of `offset` in `text`, counted from the beginning by the definition.
Position counted(std::string_view text, std::size_t offset) {
  Position position;
  for (std::size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0; at < offset; ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\r' && at + 1 < text.size() && text[at + 1] == '\n') continue;
    if (byte == '\r' || byte == '\n') {
      position = {position.line + 1, 1};
    } else if (byte < 0x80 || byte >= 0xC0) {
      position.column += byte >= 0xF0 ? 2 : 1;
    }
  }
  return position;
}

}  // namespace

TEST_CASE("A document is a flat list of nodes in the order of the text", "[json]") {
  const Reading reading("{ \"a\": [1, \"x\\n\", {}], \"b\\u0063\": {\"d\": null}, \"e\": true }");
  REQUIRE(reading.ok);
  const Document& document = reading.document;
  struct Expected {
    Kind kind;
    std::string text;
    std::uint32_t offset;
    std::uint32_t next;
  };
  const Expected expected[] = {
      {Kind::object, "{", 0, 12},   {Kind::name, "a", 2, 0},      {Kind::array, "[", 7, 6},
      {Kind::number, "1", 8, 4},    {Kind::string, "x\n", 11, 5}, {Kind::object, "{", 18, 6},
      {Kind::name, "bc", 23, 0},    {Kind::object, "{", 34, 10},  {Kind::name, "d", 35, 0},
      {Kind::null, "null", 40, 10}, {Kind::name, "e", 47, 0},     {Kind::boolean, "true", 52, 12},
  };
  for (std::uint32_t node = 0; node < std::size(expected); ++node) {
    CAPTURE(node);
    CHECK(document[node].kind == expected[node].kind);
    CHECK(document[node].text == expected[node].text);
    CHECK(document[node].offset == expected[node].offset);
    if (document[node].kind != Kind::name) CHECK(document[node].next == expected[node].next);
  }
}

TEST_CASE("Escapes say what they stand for", "[json]") {
  const Reading reading(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83D\uDe00\u0000|")");
  REQUIRE(reading.ok);
  using namespace std::string_view_literals;
  CHECK(reading.document[0].text == "\"\\/\b\f\n\r\tA\u00e9\u20ac\U0001F600\0|"sv);
}

TEST_CASE("Numbers are those of JSON, of any length", "[json]") {
  for (const char* const number :
       {"0", "-0", "10", "0.5", "-1.25e+10", "1E5", "0e999", "1e-999", "1e-99999999999999999999"}) {
    CAPTURE(number);
    const Reading reading(number);
    REQUIRE(reading.ok);
    CHECK(reading.document[0].kind == Kind::number);
    CHECK(reading.document[0].text == number);
  }
  CHECK(Reading(repeated("1", 308)).ok);
  CHECK(Reading("0."s + repeated("7", 100'000)).ok);
  // RapidJSON's own reading of numbers takes this for too big.
  CHECK(Reading("1"s + repeated("0", 400) + "e-400").ok);
  for (const std::string number : {"1e400", "-1e309", "1e99999999999999999999"}) {
    CAPTURE(number);
    const Reading reading(number);
    REQUIRE(reading.errors.size() == 1);
    CHECK(reading.errors[0].code == ErrorCode::number_out_of_range);
  }
  CHECK(Reading(repeated("9", 309)).errors[0].code == ErrorCode::number_out_of_range);
  for (const std::string number :
       {"01", "-", "+1", ".5", "1.", "1e", "1e+", "0x10", "1_000", "--1", "1.2.3", "1-1", "1e1.5"}) {
    CAPTURE(number);
    const Reading reading(number);
    REQUIRE(reading.errors.size() == 1);
    CHECK(reading.errors[0].code == ErrorCode::syntax);
  }
}

TEST_CASE("Digits, quotes and backslashes inside strings are no tokens", "[json]") {
  const Reading reading(R"(["1.2.3", "\"01", "\\", "-", 7, "\\\"8"])");
  REQUIRE(reading.ok);
  CHECK(reading.document[1].text == "1.2.3");
  CHECK(reading.document[2].text == "\"01");
  CHECK(reading.document[3].text == "\\");
  CHECK(reading.document[5].kind == Kind::number);
  CHECK(reading.document[6].text == "\\\"8");
}

TEST_CASE("Bytes that are not UTF-8 are refused where they are", "[json]") {
  struct Case {
    std::string bytes;
    ErrorCode code;
  };
  const ErrorCode bad = ErrorCode::invalid_utf8;
  const ErrorCode lone = ErrorCode::lone_surrogate;
  for (const auto& [bytes, code] :
       {Case{"\x80", bad}, Case{"\xBF", bad}, Case{"\xC0\x80", bad}, Case{"\xC1\xBF", bad}, Case{"\xC3", bad},
        Case{"\xC3\xC3", bad}, Case{"\xE0\x9F\xBF", bad}, Case{"\xE2\x82", bad}, Case{"\xED\xA0\x80", lone},
        Case{"\xED\xBF\xBF", lone}, Case{"\xED\xA0", bad}, Case{"\xF0\x8F\xBF\xBF", bad}, Case{"\xF0\x9F\x98", bad},
        Case{"\xF4\x90\x80\x80", bad}, Case{"\xF5\x80\x80\x80", bad}, Case{"\xFF", bad}}) {
    const Reading reading("[\"\u20ac\U0001F600" + bytes + "\"]");
    CAPTURE(reading.text);
    REQUIRE(reading.errors.size() == 1);
    CHECK(reading.errors[0].code == code);
    CHECK(reading.errors[0].line == 1);
    CHECK(reading.errors[0].column == 6);
  }
  for (const std::string bytes :
       {"\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"}) {
    CHECK(Reading("\"" + bytes + "\"").document[0].text == bytes);
  }
  // Outside of strings too.
  CHECK(Reading("[1]\xFF").errors[0].code == ErrorCode::invalid_utf8);
}

TEST_CASE("Positions count lines of LF, CR and CRLF and UTF-16 code units", "[json]") {
  std::string text = "\xEF\xBB\xBF";
  for (int i = 0; i < 60; ++i)
    text += "a\u00e9\u20ac\U0001F600\rb\n\r\nc\n\n\r\r" + repeated("x", static_cast<std::size_t>(i));
  Report report(text);
  for (std::size_t offset = text.size() + 1; offset-- > 3;) {
    const bool inside_character = offset < text.size() && (text[offset] & 0xC0) == 0x80;
    const bool inside_line_end = offset < text.size() && text[offset] == '\n' && text[offset - 1] == '\r';
    if (inside_character || inside_line_end) continue;
    const Position expected = counted(text, offset);
    const Position position = report.position(offset);
    if (position.line != expected.line || position.column != expected.column) {
      CAPTURE(offset, position.line, position.column, expected.line, expected.column);
      FAIL("a position is wrong");
    }
  }
}

TEST_CASE("Errors carry a JSON Pointer", "[json]") {
  Report report("");
  List<Error> errors;
  const Path outer{nullptr, "a/b~c", 0};
  const Path element{&outer, {}, 12};
  const Path inner{&element, "", 0};
  report.add(errors, ErrorCode::syntax, &inner, 0, "%, %.", {Digits(0), Digits(4294967295)});
  report.add(errors, ErrorCode::syntax, &outer, 0, "@ is %", {"100 %"});
  report.add(errors, ErrorCode::syntax, nullptr, 0, "nothing", {});
  REQUIRE(errors.size() == 3);
  CHECK(errors[0].path == "/a~1b~0c/12/");
  CHECK(errors[0].message == "0, 4294967295.");
  CHECK(errors[1].path == "/a~1b~0c");
  CHECK(errors[1].message == "a/b~c is 100 %");
  CHECK(errors[2].path.empty());
  CHECK(errors[2].message == "nothing");
}

TEST_CASE("An excerpt is cut between characters", "[json]") {
  CHECK(std::string(Excerpt("\u20ac")) == "\u20ac");
  CHECK(std::string(Excerpt(repeated("x", 40))) == repeated("x", 40));
  CHECK(std::string(Excerpt(repeated("x", 41))) == repeated("x", 40) + "...");
  CHECK(std::string(Excerpt(repeated("\u20ac", 14))) == repeated("\u20ac", 13) + "...");
  CHECK(std::string(Excerpt(repeated("x", 39) + "\U0001F600")) == repeated("x", 39) + "...");
}

TEST_CASE("Names are sorted by their bytes", "[json]") {
  Reading reading(R"({"b": {"z": 1, "y": 2}, "": 1, "\u00e9": 1, "a\u0000": 1, "a": 1, "Z": 1})");
  REQUIRE(reading.ok);
  std::string sorted;
  for (const std::uint32_t name : reading.document.sorted_names(0)) {
    sorted += reading.document[name].text;
    sorted += ',';
  }
  using namespace std::string_view_literals;
  CHECK(sorted == ",Z,a,a\0,b,\u00e9,"sv);
  CHECK(reading.document.sorted_names(2).size() == 2);
}

TEST_CASE("A repeated name is found among very many, whatever their order", "[json]") {
  constexpr int half = 100'000;
  std::string text = "{";
  for (int i = 0; i < half; ++i) text += "\"n" + std::to_string(i) + "\":0,\n";
  for (int i = half; i-- > 0;) text += "\"n" + std::to_string(i) + "\":0" + (i == 0 ? "\n" : ",\n");
  const Reading reading(text + "}");
  REQUIRE(reading.errors.size() == half);
  CHECK(reading.errors[0].path == "/n99999");
  CHECK(reading.errors[0].line == half + 1);
  CHECK(reading.errors[0].column == 1);
  CHECK(reading.errors[0].message ==
        "\"n99999\" is given at 100000:1 and again at 100001:1; an object has each member once");
  CHECK(reading.errors[half - 1].path == "/n0");
  CHECK(reading.errors[half - 1].message ==
        "\"n0\" is given at 1:2 and again at 200000:1; an object has each member once");
}

TEST_CASE("Nesting is bounded, not the stack", "[json]") {
  for (const std::string_view opening : {"[", "{\"a\":", "[{\"a\":", " [ \n"}) {
    CAPTURE(opening);
    const Reading reading(repeated(opening, 100'000));
    REQUIRE(reading.errors.size() == 1);
    CHECK(reading.errors[0].code == ErrorCode::too_deep);
  }
  CHECK(Reading(repeated("[", 32) + repeated("]", 32)).ok);
  CHECK_FALSE(Reading(repeated("[", 33) + repeated("]", 33)).ok);
  // Depth, not the number of containers.
  CHECK(Reading("["s + repeated("[[]],{\"a\":{}},", 10'000) + "0]").ok);
}

TEST_CASE("A report of more than 256 MiB is a lack of memory", "[json]") {
  std::string text = "{\"" + repeated("n", 1 << 20) + "\": {";
  for (int i = 0; i < 300; ++i) text += "\"a\":1,";
  const Reading reading(text + "\"b\":1}}");
  CHECK_FALSE(reading.ok);
  CHECK(reading.report.starved());
}

TEST_CASE("What is JSON agrees with RapidJSON read in its ordinary way", "[json]") {
  const std::string seed = "[{\"a\\u00e9\":-1.5e+2,\"b\":[true,null,\"\u20ac\"],\"c\":{}} ,0.1]";
  const auto agrees = [](const std::string& text) {
    // Where RapidJSON is known to differ: NULs, and lone surrogates that are escaped.
    if (text.find('\0') != std::string::npos) return true;
    const Reading reading(text);
    if (!reading.ok && reading.errors[0].code == ErrorCode::lone_surrogate) return true;
    rapidjson::Document other;
    other.Parse<rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
    const bool other_refuses = other.HasParseError() && other.GetParseError() != rapidjson::kParseErrorNumberTooBig;
    return is_syntax_error(reading) == other_refuses;
  };
  REQUIRE(agrees(seed));
  for (std::size_t at = 0; at < seed.size(); ++at) {
    std::string text = seed;
    for (int byte = 0; byte < 256; ++byte) {
      text[at] = static_cast<char>(byte);
      if (!agrees(text)) FAIL("they differ over: " << text);
    }
    for (const char byte : std::string_view("{}[],:\"\\0-1.e+ x\n\xC3")) {
      text = seed;
      text.insert(at, 1, byte);
      if (!agrees(text)) FAIL("they differ over: " << text);
    }
    text = seed;
    text.erase(at, 1);
    if (!agrees(text)) FAIL("they differ over: " << text);
    if (!agrees(seed.substr(0, at))) FAIL("they differ over: " << seed.substr(0, at));
  }
}
