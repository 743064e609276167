// SPDX-License-Identifier: MIT
// What would be large of the C library and is used for next to nothing.

#include <cstddef>

// A trap, which JavaScript sees as a WebAssembly.RuntimeError. The library's raises a signal first.
extern "C" void abort() { __builtin_trap(); }

// The library's reads four bytes at a time.
extern "C" std::size_t strlen(const char* text) {
  std::size_t size = 0;
  while (text[size] != 0) ++size;
  return size;
}
