// SPDX-License-Identifier: MIT
#include "wtf8.hpp"

#include <cstdint>

namespace tierlimit::bindings {
namespace {

bool is_high(char32_t unit) noexcept { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low(char32_t unit) noexcept { return unit >= 0xdc00 && unit < 0xe000; }

}  // namespace

std::string to_wtf8(std::u16string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  const auto put = [&bytes](std::uint32_t byte) { bytes.push_back(static_cast<char>(byte)); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint32_t point = text[i];
    if (is_high(point) && i + 1 < text.size() && is_low(text[i + 1])) {
      point = 0x10000 + ((point - 0xd800) << 10) + (static_cast<std::uint32_t>(text[++i]) - 0xdc00);
    }
    if (point < 0x80) {
      put(point);
    } else if (point < 0x800) {
      put(0xc0 | point >> 6);
      put(0x80 | (point & 0x3f));
    } else {
      if (point < 0x10000) {
        put(0xe0 | point >> 12);
      } else {
        put(0xf0 | point >> 18);
        put(0x80 | (point >> 12 & 0x3f));
      }
      put(0x80 | (point >> 6 & 0x3f));
      put(0x80 | (point & 0x3f));
    }
  }
  return bytes;
}

std::u16string from_wtf8(std::string_view bytes) {
  std::u16string text;
  text.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const auto lead = static_cast<unsigned char>(bytes[i++]);
    const int more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    std::uint32_t point = more == 0 ? lead : lead & (0x3fu >> more);
    for (int left = more; left > 0 && i < bytes.size(); --left) {
      point = point << 6 | (static_cast<unsigned char>(bytes[i++]) & 0x3f);
    }
    if (point >= 0x10000) {
      text.push_back(static_cast<char16_t>(0xd800 + ((point - 0x10000) >> 10)));
      point = 0xdc00 + ((point - 0x10000) & 0x3ff);
    }
    text.push_back(static_cast<char16_t>(point));
  }
  return text;
}

}  // namespace tierlimit::bindings
