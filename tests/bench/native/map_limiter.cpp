// SPDX-License-Identifier: MIT
#include "map_limiter.hpp"

#include <algorithm>

template <class Map, class Name>
bool MapLimiter<Map, Name>::allow(const Name& client, double cost, std::int64_t now_us) {
  const auto found = buckets_.find(client);
  if (found == buckets_.end()) {
    const bool admitted = cost <= capacity_;
    buckets_.emplace(client, MapBucket{admitted ? capacity_ - cost : capacity_, now_us});
    return admitted;
  }
  MapBucket& bucket = found->second;
  const double tokens = std::min(capacity_, bucket.tokens + static_cast<double>(now_us - bucket.last_us) * refill_);
  bucket.last_us = now_us;
  const bool admitted = cost <= tokens;
  bucket.tokens = admitted ? tokens - cost : tokens;
  return admitted;
}

template class MapLimiter<TransparentMap, std::string_view>;
template class MapLimiter<StringMap, std::string>;
