// SPDX-License-Identifier: MIT
#include "report.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "memory.hpp"
#include "utf8.hpp"

namespace tierlimit {
namespace {

constexpr std::size_t mark_distance = 256;
// More than this is no report but an attack: a very long name around very many faults.
constexpr std::size_t most_bytes = std::size_t{256} << 20;
// What an allocation costs beside its content.
constexpr std::size_t allocation_overhead = 32;

std::size_t first_offset(std::string_view text) noexcept {
  return text.starts_with(utf8::byte_order_mark) ? utf8::byte_order_mark.size() : 0;
}

void advance(Position& position, std::string_view text, std::size_t from, std::size_t to) noexcept {
  for (std::size_t at = from; at < to; ++at) {
    const unsigned byte = utf8::byte_at(text, at);
    if (byte == '\r' || byte == '\n') {
      const bool second_of_pair = byte == '\n' && at > 0 && text[at - 1] == '\r';
      if (!second_of_pair) ++position.line;
      position.column = 1;
    } else if (!utf8::is_continuation(byte)) {
      // Beyond U+FFFF it takes two code units.
      position.column += byte >= 0xF0 ? 2 : 1;
    }
  }
}

// Writes a text, or only counts its bytes where there is no place to write to.
struct Writer {
  char* to = nullptr;
  std::size_t size = 0;

  void put(std::string_view piece) noexcept {
    if (to != nullptr) piece.copy(to + size, piece.size());
    size += piece.size();
  }
  void put(char c) noexcept { put(std::string_view(&c, 1)); }

  void pointer(const Path* path) noexcept {
    if (path == nullptr) return;
    pointer(path->parent);
    put('/');
    if (path->name.data() == nullptr) put(Digits(path->index));
    for (const char c : path->name) {
      put(c == '/' ? '~' : c);
      if (c == '~') put('0');
      if (c == '/') put('1');
    }
  }
  void message(const char* sentence, const Path* path, const std::string_view* values) noexcept {
    for (; *sentence != 0; ++sentence) {
      const char c = *sentence;
      if (c == '%') {
        put(*values++);
      } else if (c == '@') {
        put(path->name);
      } else {
        put(c);
      }
    }
  }
};

}  // namespace

Excerpt::Excerpt(std::string_view text) noexcept : size_(std::min(text.size(), longest)) {
  const bool cut = size_ < text.size();
  while (cut && size_ > 0 && utf8::is_continuation(utf8::byte_at(text, size_))) --size_;
  std::copy_n(text.data(), size_, chars_);
  if (cut) {
    std::memcpy(chars_ + size_, "...", 3);
    size_ += 3;
  }
}

Digits::Digits(std::uint32_t number) noexcept {
  do {
    chars_[--begin_] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
}

bool Report::available(std::size_t bytes) noexcept {
  if (!memory_available(bytes)) starved_ = true;
  return !starved_;
}

Position Report::position(std::size_t offset) noexcept {
  const std::size_t first = first_offset(text_);
  if (mark_count_ == 0 && marks_.allocate((text_.size() - first) / mark_distance + 1)) {
    Position position;
    for (std::size_t at = first; at <= text_.size(); at += mark_distance) {
      marks_[mark_count_++] = position;
      advance(position, text_, at, std::min(at + mark_distance, text_.size()));
    }
  }
  if (offset < first) return {};
  // Without memory for the marks it is a longer way, from the first of them.
  const std::size_t mark = mark_count_ == 0 ? 0 : (offset - first) / mark_distance;
  Position position = mark_count_ == 0 ? Position{} : marks_[mark];
  advance(position, text_, first + mark * mark_distance, offset);
  return position;
}

void Report::add(List<Error>& errors, ErrorCode code, const Path* path, std::size_t offset, const char* sentence,
                 const std::string_view* values) {
  Writer message;
  message.message(sentence, path, values);
  Writer pointer;
  pointer.pointer(path);
  const std::size_t size = sizeof(Error) + pointer.size + message.size + 2 * allocation_overhead;
  bytes_ += size;
  if (bytes_ > most_bytes) starved_ = true;
  // The list may have to move to twice its room.
  const std::size_t move = errors.size() == errors.capacity() ? (2 * errors.size() + 1) * sizeof(Error) : 0;
  if (!available(size + move)) return;

  Error& error = errors.emplace_back();
  error.code = code;
  error.message = Text::of_size(message.size);
  Writer{error.message.data()}.message(sentence, path, values);
  error.path = Text::of_size(pointer.size);
  Writer{error.path.data()}.pointer(path);
  const Position at = position(offset);
  error.line = at.line;
  error.column = at.column;
}

}  // namespace tierlimit
