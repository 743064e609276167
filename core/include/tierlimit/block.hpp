// SPDX-License-Identifier: MIT
/// \file
/// Memory that may not be there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace tierlimit {

/// Room for a number of `T`s that tells when it cannot be had, as lists cannot.
template <class T>
class Block {
 public:
  /// Uninitialised room for `count` of them, in place of what was there. False when there is no memory.
  [[nodiscard]] bool allocate(std::size_t count) noexcept {
    if (count > SIZE_MAX / sizeof(T)) return false;
    memory_.reset(std::malloc(count == 0 ? 1 : count * sizeof(T)));
    return memory_ != nullptr;
  }
  [[nodiscard]] T* data() const noexcept { return static_cast<T*>(memory_.get()); }
  T& operator[](std::size_t index) const noexcept { return data()[index]; }

 private:
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
};

}  // namespace tierlimit
