// SPDX-License-Identifier: MIT
// Which clients the requests are from, and what they are called: as orders.js and names.js have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

// Names are written just before they are used, so that they are in the cache.
void write_names(const std::vector<std::uint32_t>& clients, std::size_t from, std::vector<std::string>& names);

class Order {
 public:
  enum class Kind : std::uint8_t { uniform, zipf };

  Order(Kind kind, std::uint32_t clients);
  void fill(std::vector<std::uint32_t>& clients);

 private:
  std::uint32_t count_;
  std::vector<double> sums_;  // of the weights, for Zipf's law
  std::mt19937_64 random_{1};
};
