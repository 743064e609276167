// SPDX-License-Identifier: MIT
#include "tierlimit/codec.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "memory.hpp"

namespace tierlimit::codec {

std::string_view to_string(Fault fault) noexcept {
  switch (fault) {
    case Fault::none: return "";
    case Fault::foreign: return "is none";
    case Fault::other_endian: return "was written by a machine with the other order of bytes";
    case Fault::other_format: return "is of a format that this version does not read";
    case Fault::truncated: return "has not as many bytes as were written";
    case Fault::altered: return "is not as it was written";
    case Fault::does_not_fit: return "holds more than there is room for";
  }
  return "";
}

Archive::Archive(const Stream& stream, Pass pass) noexcept : stream_(stream), pass_(pass) {
  if (reads()) check_header();
}

void Archive::expect(bool condition, Fault otherwise) noexcept {
  if (!condition && ok()) fault_ = otherwise;
}

void Archive::check_header() noexcept {
  const Header expected;
  Header header;
  header.magic = 0;
  if (stream_.size >= sizeof header) stream_.read(stream_.context, 0, &header, sizeof header);
  expect(header.magic != __builtin_bswap32(expected.magic), Fault::other_endian);
  expect(header.magic == expected.magic, Fault::foreign);
  expect(header.format == format, Fault::other_format);
  expect(header.size == stream_.size, Fault::truncated);
  if (!ok()) return;
  while (size_ < stream_.size - sizeof header) {
    fill();
    flush();
  }
  expect(finish().checksum == header.checksum);
  size_ = 0;
}

// The next bytes to be read.
void Archive::fill() noexcept {
  end_ = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), stream_.size - sizeof(Header) - size_));
  stream_.read(stream_.context, sizeof(Header) + size_, buffer_.data(), end_);
}

// The buffer is full, or what is in it is the end.
void Archive::flush() noexcept {
  size_ += end_;
  if (pass_ == Pass::write) {
    stream_.write(stream_.context, buffer_.data(), end_);
  } else if (end_ == buffer_.size()) {
    hash_.words(buffer_.data(), end_);
  } else {
    return;  // `finish` takes it from there.
  }
  end_ = 0;
}

Header Archive::finish() noexcept {
  if (end_ != 0 && !reads()) flush();
  Header header;
  header.size += size_;
  const std::size_t whole = end_ / 8 * 8;
  hash_.words(buffer_.data(), whole);
  header.checksum = hash_.finish(std::string_view{buffer_.data() + whole, end_ - whole}, size_)[0];
  end_ = 0;
  return header;
}

void Archive::raw(void* bytes, std::size_t size) noexcept {
  auto* at = static_cast<char*>(bytes);
  if (reads()) expect(size <= stream_.size - sizeof(Header) - size_ + (end_ - begin_));
  while (size > 0 && ok()) {
    if (reads() && begin_ == end_) {
      begin_ = 0;
      fill();
      size_ += end_;
    } else if (!reads() && end_ == buffer_.size()) {
      flush();
    }
    const std::size_t piece = std::min(size, reads() ? end_ - begin_ : buffer_.size() - end_);
    if (reads()) {
      std::memcpy(at, buffer_.data() + begin_, piece);
      begin_ += piece;
    } else {
      std::memcpy(buffer_.data() + end_, at, piece);
      end_ += piece;
    }
    at += piece;
    size -= piece;
  }
}

std::string_view Archive::text(std::string_view present, Text& room) {
  const std::uint32_t size = count(present.size(), 1, 1);
  if (!reads()) {
    raw(const_cast<char*>(present.data()), size);
    return present;
  }
  room = Text::of_size(size);
  raw(room.data(), size);
  return room;
}

std::uint32_t Archive::count(std::size_t present, std::size_t bytes_each, std::size_t memory_each) noexcept {
  auto count = static_cast<std::uint32_t>(present);
  value(count);
  if (reads()) {
    expect(std::uint64_t{count} * bytes_each <= stream_.size);
    // Twice, for what grows as it is filled. (Of what is not there no memory is asked for: it would stay.)
    const std::uint64_t memory = ok() ? std::uint64_t{2} * count * memory_each : 0;
    expect(memory >> 31 == 0 && memory_available(static_cast<std::size_t>(memory)), Fault::does_not_fit);
  }
  return ok() ? count : 0;
}

}  // namespace tierlimit::codec
