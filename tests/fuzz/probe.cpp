// SPDX-License-Identifier: MIT
// Whether a compiler has libFuzzer and the sanitizers: the set-up tries to build this.
#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return std::string(bytes, bytes + size) == "never" ? 1 : 0;
}
