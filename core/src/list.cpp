// SPDX-License-Identifier: MIT
#include "tierlimit/list.hpp"

#include <cstring>

namespace tierlimit {
namespace {

void* allocate(std::size_t bytes) noexcept {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) __builtin_trap();
  return memory;
}

}  // namespace

void ListMemory::swap_memory(ListMemory& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
}

void ListMemory::reserve_bytes(std::size_t count, std::size_t element) noexcept {
  if (count <= capacity_) return;
  void* const larger = allocate(count * element);
  if (size_ != 0) std::memcpy(larger, data_, size_ * element);
  std::free(data_);
  data_ = larger;
  capacity_ = count;
}

void* ListMemory::add(std::size_t element) noexcept {
  if (size_ == capacity_) reserve_bytes(2 * size_ + 1, element);
  return static_cast<char*>(data_) + size_++ * element;
}

void ListMemory::close(std::size_t index, std::size_t element) noexcept {
  char* const gap = static_cast<char*>(data_) + index * element;
  std::memmove(gap, gap + element, (--size_ - index) * element);
}

Text::Text(std::string_view text) : Text(of_size(text.size())) {
  if (size_ != 0) std::memcpy(data_, text.data(), size_);
}

Text Text::of_size(std::size_t size) noexcept {
  Text text;
  if (size != 0) text.data_ = static_cast<char*>(allocate(size));
  text.size_ = size;
  return text;
}

}  // namespace tierlimit
