// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace tierlimit {

/// Whether that many bytes can be had now. The core is built without exceptions, where the standard containers end the
/// program when memory runs out; so whoever is about to fill one asks first.
inline bool memory_available(std::size_t bytes) noexcept {
  // Allocators keep small blocks apart by size: one that is free says nothing of another size.
  constexpr std::size_t least_telling = 64 << 10;
  // Volatile, because compilers leave out an allocation that nobody uses, and take it for granted.
  void* volatile const probe = std::malloc(std::max(bytes, least_telling));
  const bool available = probe != nullptr;
  std::free(probe);
  return available;
}

}  // namespace tierlimit
