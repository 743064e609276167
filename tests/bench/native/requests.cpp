// SPDX-License-Identifier: MIT
#include "requests.hpp"

#include <algorithm>

void write_names(const std::vector<std::uint32_t>& clients, std::size_t from, std::vector<std::string>& names) {
  for (std::string& name : names) {
    name.clear();
    std::uint32_t word = (clients[from++] + 1) * 0x9e3779b1;
    for (int part = 0; part < 3; ++part) {
      for (int shift = 28; shift >= 0; shift -= 4) name.push_back("0123456789abcdef"[word >> shift & 15]);
      word = (word ^ word >> 15) * 0x85ebca6b;
      word ^= word >> 13;
    }
  }
}

Order::Order(Kind kind, std::uint32_t clients) : count_(clients) {
  if (kind == Kind::uniform) return;
  double sum = 0;
  for (std::uint32_t rank = 1; rank <= clients; ++rank) sums_.push_back(sum += 1.0 / rank);
}

void Order::fill(std::vector<std::uint32_t>& clients) {
  if (sums_.empty()) {
    std::uniform_int_distribution<std::uint32_t> any(0, count_ - 1);
    for (std::uint32_t& client : clients) client = any(random_);
    return;
  }
  std::uniform_real_distribution<double> point(0, sums_.back());
  for (std::uint32_t& client : clients) {
    const auto found = std::upper_bound(sums_.begin(), sums_.end() - 1, point(random_));
    const auto rank = static_cast<std::uint64_t>(found - sums_.begin());
    client = static_cast<std::uint32_t>((rank * 618'033 + 271'828) % count_);
  }
}
