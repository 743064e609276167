// SPDX-License-Identifier: MIT
/// \file
/// Snapshots in memory.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "expect.hpp"
#include "tierlimit/limiter.hpp"

using Bytes = std::vector<std::uint8_t>;

inline tierlimit::codec::Stream into(Bytes& bytes) {
  tierlimit::codec::Stream stream;
  stream.context = &bytes;
  stream.write = [](void* context, const void* piece, std::size_t size) {
    const auto* const begin = static_cast<const std::uint8_t*>(piece);
    auto& end = *static_cast<Bytes*>(context);
    end.insert(end.end(), begin, begin + size);
  };
  return stream;
}

inline tierlimit::codec::Stream from(Bytes& bytes) {
  tierlimit::codec::Stream stream;
  stream.context = &bytes;
  stream.size = bytes.size();
  stream.read = [](void* context, std::uint64_t at, void* piece, std::size_t size) {
    const auto& all = *static_cast<const Bytes*>(context);
    EXPECT(at <= all.size() && size <= all.size() - at);
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(at), size, static_cast<std::uint8_t*>(piece));
  };
  return stream;
}

/// A snapshot, which the limiter is good for.
inline Bytes snapshot_of(tierlimit::TierLimiter& limiter, std::int64_t now) {
  Bytes bytes;
  EXPECT(limiter.snapshot(into(bytes), now).ok());
  return bytes;
}

/// Gives bytes the header that makes them pass as written by this version.
inline void repair(Bytes& bytes) {
  tierlimit::codec::Header header;
  if (bytes.size() < sizeof header) bytes.resize(sizeof header);
  header.size = bytes.size();
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()) + sizeof header,
                                 bytes.size() - sizeof header);
  tierlimit::SipHash128<1, 3> hash{tierlimit::Secret{}};
  const std::size_t whole = content.size() / 8 * 8;
  hash.words(content.data(), whole);
  header.checksum = hash.finish(content.substr(whole), content.size())[0];
  std::memcpy(bytes.data(), &header, sizeof header);
}
