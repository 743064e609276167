// SPDX-License-Identifier: MIT
/// \file
/// Lists and texts as the core keeps them.
///
/// What std::vector and std::string do for one type they do in code that is made for each; the WebAssembly module was
/// some kilobytes larger by that. These do the same in functions that all types share, and no more than is used.
/// Memory that is not there ends the program, as with the standard's: whoever fills a list asks for room first.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tierlimit {

/// Whether a value is good in another place once its bytes are there, the place that it was in being forgotten. Of what
/// has memory of its own those say so that it is true of, by a type of that name.
template <class T>
inline constexpr bool moves_as_bytes = std::is_trivially_copyable_v<T> || requires {
  typename T::MovesAsBytes;
};

/// What all lists share: room for elements of some size. Whoever has one says how large they are.
class ListMemory {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Elements that there is room for. Where that is not enough, there will be for twice as many and one.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

 protected:
  ListMemory() = default;
  ~ListMemory() { std::free(data_); }
  ListMemory(const ListMemory&) = delete;
  ListMemory& operator=(const ListMemory&) = delete;
  void swap_memory(ListMemory& other) noexcept;
  void reserve_bytes(std::size_t count, std::size_t element) noexcept;
  /// The place of one more element, which is counted already.
  [[nodiscard]] void* add(std::size_t element) noexcept;
  /// Closes the gap that an element leaves.
  void close(std::size_t index, std::size_t element) noexcept;

  void* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// Elements in a row, as in a std::vector.
template <class T>
class List : public ListMemory {
 public:
  using MovesAsBytes = void;

  List() = default;
  explicit List(std::size_t count) {
    reserve(count);
    resize(count);
  }
  List(std::initializer_list<T> elements) { append(elements.begin(), elements.end()); }
  List(const List& other) : ListMemory() { append(other.begin(), other.end()); }
  List(List&& other) noexcept { swap_memory(other); }
  List& operator=(const List& other) { return *this = List(other); }
  List& operator=(List&& other) noexcept {
    clear();
    swap_memory(other);
    return *this;
  }
  ~List() {
    static_assert(moves_as_bytes<T> && alignof(T) <= alignof(std::max_align_t));
    clear();
  }
  void swap(List& other) noexcept { swap_memory(other); }

  [[nodiscard]] T* data() noexcept { return static_cast<T*>(data_); }
  [[nodiscard]] const T* data() const noexcept { return static_cast<const T*>(data_); }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return data()[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }
  [[nodiscard]] T& front() noexcept { return *begin(); }
  [[nodiscard]] const T& front() const noexcept { return *begin(); }
  [[nodiscard]] T& back() noexcept { return end()[-1]; }
  [[nodiscard]] const T& back() const noexcept { return end()[-1]; }

  void reserve(std::size_t count) noexcept { reserve_bytes(count, sizeof(T)); }
  T& emplace_back() { return *new (add(sizeof(T))) T(); }
  T& push_back(T value) { return *new (add(sizeof(T))) T(std::move(value)); }
  void pop_back() noexcept { data()[--size_].~T(); }
  void clear() noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      while (size_ > 0) pop_back();
    }
    size_ = 0;
  }
  /// To as many or more; new ones are as `T()` has them.
  void resize(std::size_t count) {
    while (size_ < count) emplace_back();
  }
  void erase(std::size_t index) noexcept {
    data()[index].~T();
    close(index, sizeof(T));
  }

 private:
  void append(const T* from, const T* to) {
    reserve(static_cast<std::size_t>(to - from));
    while (from != to) push_back(*from++);
  }
};

/// A text that is not changed in parts.
class Text {
 public:
  using MovesAsBytes = void;

  Text() = default;
  Text(std::string_view text);
  template <std::convertible_to<std::string_view> Other>
  Text(const Other& text) : Text(std::string_view(text)) {}
  Text(const Text& other) : Text(other.view()) {}
  Text(Text&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Text& operator=(const Text& other) { return *this = Text(other); }
  Text& operator=(Text&& other) noexcept {
    Text last(std::move(other));
    std::swap(data_, last.data_);
    std::swap(size_, last.size_);
    return *this;
  }
  ~Text() { std::free(data_); }
  /// To be written by `data`.
  [[nodiscard]] static Text of_size(std::size_t size) noexcept;

  [[nodiscard]] char* data() noexcept { return data_; }
  [[nodiscard]] const char* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Never without data: an empty text is not none.
  [[nodiscard]] std::string_view view() const noexcept { return {data_ != nullptr ? data_ : "", size_}; }
  operator std::string_view() const noexcept { return view(); }

  template <std::convertible_to<std::string_view> Other>
  friend bool operator==(const Text& a, const Other& b) noexcept {
    return a.view() == std::string_view(b);
  }

 private:
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tierlimit
