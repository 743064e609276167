// SPDX-License-Identifier: MIT
// Writes what fuzz_snapshot begins with into a folder: snapshots of limiters that were used.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "documents.hpp"
#include "expect.hpp"
#include "snapshot_bytes.hpp"
#include "snapshot_clients.hpp"
#include "tierlimit/limiter.hpp"

namespace {

using documents::Document;
using documents::second;
using tierlimit::OnRaise;
using tierlimit::TierLimiter;

void write(const std::string& path, char mode, const Bytes& bytes) {
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  EXPECT(file != nullptr);
  std::fputc(mode, file);
  EXPECT(std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
  EXPECT(std::fclose(file) == 0);
}

void use(TierLimiter& limiter, std::int64_t now, std::uint64_t cost) {
  for (const char* const client : snapshot_clients) {
    static_cast<void>(limiter.check({client, cost}, now));
    static_cast<void>(limiter.check({client, 1, "b"}, now + 1));
  }
}

std::unique_ptr<TierLimiter> used_limiter(const std::vector<Document>& documents, std::size_t first,
                                          std::size_t changes, std::int64_t& now) {
  auto limiter = std::make_unique<TierLimiter>();
  EXPECT(limiter->set_policies(documents::text_of(documents[first % documents.size()]), now).ok());
  EXPECT(limiter->seed(snapshot_secret));
  for (std::size_t i = 1; i <= changes; ++i) {
    use(*limiter, now += second, i);
    EXPECT(limiter->set_tier(snapshot_clients[i % snapshot_clients.size()], "c", OnRaise::add, now + 1).ok());
    now += second;
    EXPECT(limiter->set_policies(documents::text_of(documents[(first + i) % documents.size()]), now).ok());
  }
  use(*limiter, now += second, 2);
  EXPECT(limiter->set_tier("acme", "a", OnRaise::fill, now += second).ok());
  return limiter;
}

// Snapshots in which a client's bucket has changed places with one nearby, which may be of another limit. (A bucket
// takes 32 bytes, and 16 more for each entry of a log.)
std::vector<Bytes> exchanged(const Bytes& bytes, const tierlimit::Fingerprint& client) {
  std::array<std::uint8_t, sizeof client> name{};
  std::memcpy(name.data(), &client, sizeof client);
  // Buckets come last, after what is said of the client otherwise.
  const auto found = std::find_end(bytes.begin(), bytes.end(), name.begin(), name.end());
  std::vector<Bytes> all;
  for (const std::ptrdiff_t distance : {-80, -64, -48, -32, 32, 48, 64, 80}) {
    const std::ptrdiff_t at = found - bytes.begin();
    const std::ptrdiff_t other = at + distance;
    if (found == bytes.end() || other < 0 || other + std::ssize(name) > std::ssize(bytes)) continue;
    Bytes changed = bytes;
    std::swap_ranges(changed.begin() + at, changed.begin() + at + std::ssize(name), changed.begin() + other);
    all.push_back(std::move(changed));
  }
  return all;
}

// Snapshots in which eight bytes behind the text of the document are a number at the edge.
std::vector<Bytes> edged(const Bytes& bytes) {
  std::vector<Bytes> all;
  constexpr std::string_view end_of_text = "}}";
  const auto text_end =
      std::find_end(bytes.begin(), bytes.end(), end_of_text.begin(), end_of_text.end()) - bytes.begin();
  for (std::ptrdiff_t at = text_end; at + 8 <= std::ssize(bytes); ++at) {
    for (const std::int64_t edge : {std::int64_t{0}, std::numeric_limits<std::int64_t>::max()}) {
      Bytes changed = bytes;
      std::memcpy(changed.data() + at, &edge, sizeof edge);
      all.push_back(std::move(changed));
    }
  }
  return all;
}

}  // namespace

int main(int count, char** arguments) {
  EXPECT(count == 2);
  const std::string folder = arguments[1];
  int number = 0;
  for (const auto* const documents : {&documents::compared(), &documents::prorated()}) {
    for (std::size_t first = 0; first < documents->size(); ++first) {
      for (const std::size_t changes : {std::size_t{0}, std::size_t{2}}) {
        std::int64_t now = 1'000 * second;
        const auto limiter = used_limiter(*documents, first, changes, now);
        const Bytes bytes = snapshot_of(*limiter, now);
        write(folder + "/" + std::to_string(++number), '\0', bytes);
        write(folder + "/" + std::to_string(++number), '\1', bytes);
        if (documents == &documents::compared() && first == 0 && changes != 0) {
          for (const Bytes& changed : edged(bytes)) write(folder + "/" + std::to_string(++number), '\1', changed);
        }
        for (const Bytes& changed : exchanged(bytes, *limiter->fingerprint("acme"))) {
          write(folder + "/" + std::to_string(++number), '\1', changed);
        }
      }
    }
  }
  return 0;
}
