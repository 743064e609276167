// SPDX-License-Identifier: MIT
// UTF-8, byte by byte.
#pragma once

#include <cstddef>
#include <string_view>

namespace tierlimit::utf8 {

inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The byte at `at`; 0 behind the end.
inline unsigned byte_at(std::string_view text, std::size_t at) noexcept {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

inline bool is_continuation(unsigned byte) noexcept { return (byte & 0xC0) == 0x80; }

/// Length of the sequence at `at`; 0 when it is not one.
inline std::size_t sequence_length(std::string_view text, std::size_t at) noexcept {
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

/// Half of a UTF-16 pair as three bytes of its own. No UTF-8, but what careless writers make of it.
inline bool is_surrogate(std::string_view text, std::size_t at) noexcept {
  return byte_at(text, at) == 0xED && byte_at(text, at + 1) >= 0xA0 && byte_at(text, at + 1) <= 0xBF &&
         is_continuation(byte_at(text, at + 2));
}

}  // namespace tierlimit::utf8
