// SPDX-License-Identifier: MIT
#include "tierlimit/window_log.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace tierlimit {

WindowLog* WindowLog::make(std::uint32_t capacity) noexcept {
  void* const block = std::malloc(static_cast<std::size_t>(bytes(capacity)));
  return block == nullptr ? nullptr : new (block) WindowLog(capacity);
}

void WindowLog::free(WindowLog* log) noexcept { std::free(log); }

void WindowLog::take_over(WindowLog* log) noexcept {
  base_ = log->base_;
  total_ = log->total_;
  size_ = log->size_;
  for (std::uint32_t i = 0; i < size_; ++i) entry(i) = log->entry(i);
  free(log);
}

void WindowLog::drop(std::uint32_t count) noexcept {
  for (; count > 0; --count) {
    total_ -= tokens(0);
    --size_;
    if (++first_ == capacity_) first_ = 0;
  }
}

void WindowLog::add(std::int64_t now, std::int64_t tokens) noexcept {
  total_ += tokens;
  if (size_ != 0 && time(size_ - 1) == now) {
    entry(size_ - 1) += static_cast<std::uint64_t>(tokens);
    return;
  }
  // Once in eighteen years the base has to follow: an entry has 50 bits for its time.
  const std::int64_t oldest = size_ == 0 ? now : time(0);
  const std::uint64_t forward = static_cast<std::uint64_t>(oldest) - static_cast<std::uint64_t>(base_);
  if (size_ == 0 || forward >> 49 != 0) {
    for (std::uint32_t i = 0; i < size_; ++i) entry(i) -= forward << token_bits;
    base_ = oldest;
  }
  entry(size_++) = (static_cast<std::uint64_t>(now) - static_cast<std::uint64_t>(base_)) << token_bits |
                   static_cast<std::uint64_t>(tokens);
}

void WindowLog::tidy() noexcept {
  std::uint32_t kept = 0;
  for (std::uint32_t i = 0; i < size_; ++i) {
    if (tokens(i) != 0) entry(kept++) = entry(i);
  }
  size_ = kept;
}

std::int64_t WindowLog::take(std::uint32_t index, std::int64_t tokens_wanted) noexcept {
  const std::int64_t had = tokens(index);
  const std::int64_t taken = had < tokens_wanted ? had : tokens_wanted;
  entry(index) -= static_cast<std::uint64_t>(taken);
  total_ -= taken;
  return taken;
}

}  // namespace tierlimit
