// SPDX-License-Identifier: MIT
// Writes what fuzz_snapshot begins with into a folder: snapshots of limiters that were used.
#include <cstdio>
#include <string>

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

Bytes snapshot_of(const std::vector<Document>& documents, std::size_t first, std::size_t changes) {
  TierLimiter limiter;
  std::int64_t now = 1'000 * second;
  EXPECT(limiter.set_policies(documents::text_of(documents[first % documents.size()]), now).ok());
  EXPECT(limiter.seed(snapshot_secret));
  for (std::size_t i = 1; i <= changes; ++i) {
    use(limiter, now += second, i);
    EXPECT(limiter.set_tier(snapshot_clients[i % snapshot_clients.size()], "c", OnRaise::add, now + 1).ok());
    now += second;
    EXPECT(limiter.set_policies(documents::text_of(documents[(first + i) % documents.size()]), now).ok());
  }
  use(limiter, now + second, 2);
  EXPECT(limiter.set_tier("acme", "a", OnRaise::fill, now + 2 * second).ok());
  return ::snapshot_of(limiter, now + 2 * second);
}

}  // namespace

int main(int count, char** arguments) {
  EXPECT(count == 2);
  const std::string folder = arguments[1];
  int number = 0;
  for (const auto* const documents : {&documents::compared(), &documents::prorated()}) {
    for (std::size_t first = 0; first < documents->size(); ++first) {
      for (const std::size_t changes : {std::size_t{0}, std::size_t{2}}) {
        const Bytes bytes = snapshot_of(*documents, first, changes);
        for (const char mode : {'\0', '\1'}) write(folder + "/" + std::to_string(++number), mode, bytes);
      }
    }
  }
  return 0;
}
