// SPDX-License-Identifier: MIT
/// \file
/// The bytes of one run, taken as choices.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t size) : bytes_(bytes), size_(size) {}

  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// The next byte; 0 after the last.
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *bytes_++;
  }
  template <class T, std::size_t N>
  const T& pick(const std::array<T, N>& choices) {
    return choices[byte() % N];
  }

 private:
  const std::uint8_t* bytes_;
  std::size_t size_;
};
