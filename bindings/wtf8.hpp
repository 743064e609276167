// SPDX-License-Identifier: MIT
/// \file
/// JavaScript strings as bytes and back, so that different strings stay different.
///
/// WTF-8 (https://simonsapin.github.io/wtf-8/) is UTF-8 that also has a form for a surrogate without its other half.
#pragma once

#include <string>
#include <string_view>

namespace tierlimit::bindings {

[[nodiscard]] std::string to_wtf8(std::u16string_view text);
/// Only for bytes that `to_wtf8` made, or UTF-8.
[[nodiscard]] std::u16string from_wtf8(std::string_view bytes);

}  // namespace tierlimit::bindings
