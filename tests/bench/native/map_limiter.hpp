// SPDX-License-Identifier: MIT
// The limiter that users write by hand: one map from the client to a small bucket, counted in floating point. It bounds
// no memory and forgets nobody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

struct MapBucket {
  double tokens;
  std::int64_t last_us;
};

struct TransparentHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
};

// Finds names without making strings of them.
using TransparentMap = std::unordered_map<std::string, MapBucket, TransparentHash, std::equal_to<>>;
// Needs names as strings. GNU's library keeps their hashes in it, which it does not do with a hash of one's own.
using StringMap = std::unordered_map<std::string, MapBucket>;

template <class Map, class Name>
class MapLimiter {
 public:
  MapLimiter(double capacity, double refill_per_second) : capacity_(capacity), refill_(refill_per_second / 1e6) {}

  bool allow(const Name& client, double cost, std::int64_t now_us);

 private:
  double capacity_;
  double refill_;  // per microsecond
  Map buckets_;
};

// In a file of their own, as the library's functions are.
extern template class MapLimiter<TransparentMap, std::string_view>;
extern template class MapLimiter<StringMap, std::string>;
