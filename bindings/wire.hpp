// SPDX-License-Identifier: MIT
/// \file
/// Arguments of embind's methods, as they cross from JavaScript. library.js, which has the other side, knows their
/// types by `tierlimit_argument_type`.
#pragma once

#include <emscripten/bind.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tierlimit::bindings {

/// A string, which JavaScript frees after the call: its length in 32 bits, then its bytes. (embind's std::string would
/// be one more copy, and code to make it in every method.)
struct Text {
  const char* wire;

  [[nodiscard]] std::string_view view() const noexcept {
    std::uint32_t size = 0;
    std::memcpy(&size, wire, sizeof size);
    return {wire + sizeof size, size};
  }
};

/// The last arguments of a method may be left out: all that are of these types, or none.
struct OptionalText {
  Text text;

  [[nodiscard]] bool given() const noexcept { return text.wire != nullptr; }
};
struct OptionalNumber {
  double value;  ///< NaN where it is left out.
};

}  // namespace tierlimit::bindings

namespace emscripten::internal {

template <>
struct BindingType<tierlimit::bindings::Text> {
  using WireType = const char*;
  static tierlimit::bindings::Text fromWireType(WireType wire) { return {wire}; }
};

template <>
struct BindingType<tierlimit::bindings::OptionalText> {
  using WireType = const char*;
  static tierlimit::bindings::OptionalText fromWireType(WireType wire) { return {{wire}}; }
};

template <>
struct BindingType<tierlimit::bindings::OptionalNumber> {
  using WireType = double;
  static tierlimit::bindings::OptionalNumber fromWireType(WireType wire) { return {wire}; }
};

}  // namespace emscripten::internal
