// SPDX-License-Identifier: MIT
/// \file
/// Values as bytes and back, with a format number in front and a checksum over all.
///
/// A header of 24 bytes: `TLSN`, the number of the format, the size of all, and a checksum of what follows: the first
/// word of SipHash-1-3-128 with a key of zeros. Numbers lie as in memory, and the header tells in which order that is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tierlimit/list.hpp"
#include "tierlimit/siphash.hpp"

namespace tierlimit::codec {

/// The format that is written and read here.
inline constexpr std::uint32_t format = 2;

/// Where bytes go to or come from. Not both; what is not there is null.
struct Stream {
  /// Takes the next bytes.
  void (*write)(void* context, const void* bytes, std::size_t size) = nullptr;
  /// Gives so many bytes from a place that has as many.
  void (*read)(void* context, std::uint64_t from, void* bytes, std::size_t size) = nullptr;
  void* context = nullptr;
  std::uint64_t size = 0;  ///< Of all that may be read.
};

/// What is wrong with bytes that are read.
enum class Fault : std::uint8_t {
  none,
  foreign,       ///< Nothing that was written here.
  other_endian,  ///< Written by a machine that has the other order of bytes.
  other_format,  ///< Of a format that this version does not know.
  truncated,     ///< Fewer or more than were written.
  altered,       ///< Not what was written.
  does_not_fit,  ///< There is no room for what they hold.
};

/// What to tell of a fault, to follow “the snapshot”; empty for none.
[[nodiscard]] std::string_view to_string(Fault fault) noexcept;

struct Header {
  std::uint32_t magic = 0x4e53'4c54;  // "TLSN"
  std::uint32_t format = codec::format;
  std::uint64_t size = sizeof(Header);
  std::uint64_t checksum = 0;
};
static_assert(sizeof(Header) == 24);

/// One pass over the values of something: whoever writes them or reads them names each in the same order, so that it is
/// one function that does either. Writing takes two passes, of which the first only counts: the header tells what
/// comes.
class Archive {
 public:
  enum class Pass : std::uint8_t { count, write, read };

  /// A pass to read begins with a look at the header and the checksum.
  Archive(const Stream& stream, Pass pass) noexcept;
  [[nodiscard]] bool reads() const noexcept { return pass_ == Pass::read; }

  /// The bytes of a value. After a fault nothing is read.
  void raw(void* bytes, std::size_t size) noexcept;
  template <class T>
  void value(T& value) noexcept {
    raw(&value, sizeof value);
  }
  /// A text: when written the present one; when read, one that is kept in `room`.
  std::string_view text(std::string_view present, Text& room);
  /// How many come of what takes at least so many bytes each here, and so many in memory: none that there is no room
  /// for, and none after a fault.
  [[nodiscard]] std::uint32_t count(std::size_t present, std::size_t bytes_each, std::size_t memory_each) noexcept;

  /// After the last value: what was counted or written.
  [[nodiscard]] Header finish() noexcept;

  [[nodiscard]] Fault fault() const noexcept { return fault_; }
  [[nodiscard]] bool ok() const noexcept { return fault_ == Fault::none; }
  /// A fault, unless there was one before.
  void expect(bool condition, Fault otherwise = Fault::altered) noexcept;

 private:
  void flush() noexcept;
  void fill() noexcept;
  void check_header() noexcept;

  const Stream& stream_;
  Pass pass_;
  Fault fault_ = Fault::none;
  SipHash128<1, 3> hash_{Secret{}};
  std::uint64_t size_ = 0;  // Counted, or already taken from the stream, the header aside.
  std::size_t begin_ = 0;   // What of the buffer is still to be read,
  std::size_t end_ = 0;     // and up to where it is filled.
  std::array<char, 4096> buffer_;
};

}  // namespace tierlimit::codec
