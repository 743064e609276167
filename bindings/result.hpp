// SPDX-License-Identifier: MIT
/// \file
/// What a method gives back to JavaScript: written member by member, as JSON is with a SAX writer.
///
/// A method that embind calls returns nothing. Its result is the one value that it wrote with no name; library.js,
/// where these functions are, puts it together. emscripten::val would do the same with a reference-counted handle for
/// every object, name and value, which is 2 kB gzipped here (measured with what writing takes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace tierlimit::bindings::result {

extern "C" {
void tierlimit_write_object(const char* name);
void tierlimit_write_array(const char* name);
void tierlimit_write_end();
void tierlimit_write_number(const char* name, double value);
void tierlimit_write_numbers(const char* names, const double* values);
void tierlimit_write_text(const char* name, const char* text, std::size_t size);
void tierlimit_write_boolean(const char* name, bool value);
void tierlimit_write_bytes(const char* name, const void* bytes, std::size_t size);
}

/// The name of the result itself, and of an array's elements.
inline constexpr const char* unnamed = nullptr;

/// Begin an object or an array; what is written up to its `end` is in it.
inline void object(const char* name = unnamed) { tierlimit_write_object(name); }
inline void array(const char* name = unnamed) { tierlimit_write_array(name); }
inline void end() { tierlimit_write_end(); }

inline void number(const char* name, double value) { tierlimit_write_number(name, value); }
/// As many as there are names, with a space between any two. Below 0: null.
inline void numbers(const char* names, const double* values) { tierlimit_write_numbers(names, values); }
inline void numbers(const char* names, std::initializer_list<double> values) { numbers(names, values.begin()); }
/// UTF-8, or WTF-8: lone surrogates cross unchanged. Null where there is none, which is not an empty one.
inline void text(const char* name, std::string_view text) { tierlimit_write_text(name, text.data(), text.size()); }
inline void boolean(const char* name, bool value) { tierlimit_write_boolean(name, value); }
/// As a Uint8Array.
inline void bytes(const char* name, const void* bytes, std::size_t size) { tierlimit_write_bytes(name, bytes, size); }
inline void null(const char* name) { text(name, {}); }

}  // namespace tierlimit::bindings::result
