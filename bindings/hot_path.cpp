// SPDX-License-Identifier: MIT
// Plain exports, for callers that count nanoseconds: an embind call with a string costs several times such a call.
// README.md beside this file documents them; the JavaScript wrapper uses them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "answer.hpp"
#include "arguments.hpp"
#include "tierlimit/limiter.hpp"
#include "tierlimit/micros.hpp"

#define TIERLIMIT_EXPORT extern "C" __attribute__((used, visibility("default")))

// The client of a call: a name of up to 24 bytes as six little-endian words (zeros behind its end) and its length; of a
// name up to 48 bytes what follows the first 24, after `tierlimit_begin`; or, with one of the numbers below in place of
// the length, what they say. Words travel in registers: a name that is written to memory and read from there again
// takes longer.
#define TIERLIMIT_CLIENT                                                                                         \
  std::int32_t length, std::uint32_t w0, std::uint32_t w1, std::uint32_t w2, std::uint32_t w3, std::uint32_t w4, \
      std::uint32_t w5

namespace {

using namespace tierlimit;
using namespace tierlimit::bindings;

constexpr std::int32_t fingerprint_given = -1;  // The first three words are the client's fingerprint.
constexpr std::int32_t text_given = -2;         // The name is the text that was last taken in.

static_assert(offsetof(Answer, limit) == 56 && offsetof(Answer, hold) == 504 && sizeof(Answer) == 728,
              "js/src/hot-path.js and README.md know where things are");

// Where JavaScript reads and writes.
struct Buffers {
  Answer answer;
  // A name that does not travel as words comes through here, a piece at a time.
  char text[4096];
};
Buffers buffers;
Answer& answer = buffers.answer;

std::optional<Fingerprint::Hash> text_hash;
std::uint64_t text_size = 0;
Fingerprint text_fingerprint;

// The clients of one call to `allow_many`.
struct Batch {
  Fingerprint* clients;
  std::uint32_t size;
  std::uint32_t capacity;
};
Batch batch;
constexpr std::uint32_t batch_kept = 256;  // Memory for so many stays; for more it is given back.

constexpr std::uint64_t word(std::uint32_t low, std::uint32_t high) noexcept { return std::uint64_t{high} << 32 | low; }

[[gnu::always_inline]] inline Fingerprint client_of(const TierLimiter& limiter, TIERLIMIT_CLIENT) noexcept {
  if (length < 0) return length == text_given ? text_fingerprint : Fingerprint{w0, w1, w2};
  Fingerprint::Hash hash = length > 24 ? *text_hash : limiter.hash();
  const std::int32_t given = length > 24 ? length - 24 : length;
  std::uint64_t rest = word(w0, w1);
  if (given >= 8) {
    hash.word(rest);
    rest = word(w2, w3);
    if (given >= 16) {
      hash.word(rest);
      rest = word(w4, w5);
      if (given == 24) {
        hash.word(rest);
        rest = 0;
      }
    }
  }
  return Fingerprint::of(hash.finish(rest, static_cast<std::uint64_t>(length)));
}

// Puts tokens back or, below 0, charges more.
Status adjust(TierLimiter& limiter, const Fingerprint& client, TierChoice tier, std::int64_t tokens, double now_ms,
              const Hold* hold) {
  const std::optional<std::int64_t> now = to_micros(now_ms);
  if (!now) return invalid_time;
  std::uint64_t left = 0;
  const Status status = status_of(limiter.put_back(client, tier, tokens, *now, hold, left));
  if (status == clock_error) return tell_clock_error(answer, limiter.earliest(client, tier));
  answer.debt = static_cast<double>(left);
  return status;
}

// One more client for `tierlimit_allow_many`.
Status add_to_batch(const Fingerprint& client) {
  if (batch.size == batch.capacity) {
    const std::uint32_t capacity = std::max(batch_kept, batch.capacity * 2);
    auto* const larger = static_cast<Fingerprint*>(std::malloc(capacity * sizeof(Fingerprint)));
    if (larger == nullptr) {
      batch.size = 0;
      return out_of_memory;
    }
    std::copy_n(batch.clients, batch.size, larger);
    std::free(batch.clients);
    batch.clients = larger;
    batch.capacity = capacity;
  }
  batch.clients[batch.size++] = client;
  return denied;
}

}  // namespace

// Whether that many bytes can be had: to be asked before a long text is handed to embind, for the core copies it.
TIERLIMIT_EXPORT bool tierlimit_memory(std::uint32_t bytes) {
  // Volatile, because compilers leave out an allocation that nobody uses, and take it for granted.
  void* volatile const probe = std::malloc(bytes);
  const bool available = probe != nullptr;
  std::free(probe);
  return available;
}

TIERLIMIT_EXPORT void* tierlimit_answer() { return &buffers; }

// Takes in the first 24 bytes of a name of 25 to 48: the rest comes with the call, and the length of all of it.
TIERLIMIT_EXPORT void tierlimit_begin(const TierLimiter* limiter, std::uint32_t w0, std::uint32_t w1, std::uint32_t w2,
                                      std::uint32_t w3, std::uint32_t w4, std::uint32_t w5) {
  if (!limiter->seeded()) return;
  text_hash = limiter->hash();
  text_hash->word(word(w0, w1));
  text_hash->word(word(w2, w3));
  text_hash->word(word(w4, w5));
}

// Takes in the next piece of a text: so many bytes of the buffer. Returns how many bytes the next piece has before its
// own, which are in the buffer already. The first piece begins another text, whatever became of the one before.
TIERLIMIT_EXPORT std::uint32_t tierlimit_text(const TierLimiter* limiter, std::uint32_t bytes, bool first, bool last) {
  if (!limiter->seeded()) return 0;
  if (first) {
    text_hash = limiter->hash();
    text_size = 0;
  }
  const std::uint32_t whole = bytes / 8 * 8;
  text_hash->words(buffers.text, whole);
  text_size += whole;
  const std::uint32_t left = bytes - whole;
  if (!last) {
    std::memmove(buffers.text, buffers.text + whole, left);
    return left;
  }
  text_fingerprint = Fingerprint::of(text_hash->finish({buffers.text + whole, left}, text_size + left));
  return 0;
}

TIERLIMIT_EXPORT std::int32_t tierlimit_allow(TierLimiter* limiter, TIERLIMIT_CLIENT, std::int32_t tier, double cost,
                                              double now_ms) {
  if (!limiter->seeded()) return not_seeded;
  const std::optional<std::int64_t> now = to_micros(now_ms);
  if (!now) return invalid_time;
  const Fingerprint client = client_of(*limiter, length, w0, w1, w2, w3, w4, w5);
  const Status status = status_of(limiter->admit(client, TierChoice{tier}, whole_cost(cost), *now));
  return status == clock_error ? tell_clock_error(answer, limiter->earliest(client, TierChoice{tier})) : status;
}

// All else that is asked for a client. What the numbers of questions are js/src/hot-path.js and README.md know.
TIERLIMIT_EXPORT std::int32_t tierlimit_ask(Question question, TierLimiter* limiter, TIERLIMIT_CLIENT,
                                            std::int32_t tier, double cost, double now_ms) {
  if (!limiter->seeded()) return not_seeded;
  const Fingerprint client = client_of(*limiter, length, w0, w1, w2, w3, w4, w5);
  const TierChoice choice{tier};
  const std::uint64_t whole = whole_cost(cost);
  switch (question) {
    // Leaves the client's fingerprint in the answer.
    case Question::fingerprint: answer.fingerprint = client; return 0;
    case Question::batch: return add_to_batch(client);
    // Settles what is held in the answer by its actual cost, which may be 0.
    case Question::settle:
    case Question::refund: {
      const Hold* const hold = question == Question::settle ? &answer.hold : nullptr;
      if (whole == 0 && (hold == nullptr || cost != 0)) return invalid_cost;
      const auto tokens = static_cast<std::int64_t>(whole);
      return adjust(*limiter, client, choice, hold == nullptr ? tokens : static_cast<std::int64_t>(hold->cost) - tokens,
                    now_ms, hold);
    }
    // A reservation leaves in the answer what it was charged to: to be kept as bytes until it is settled.
    default: return ask(question, *limiter, client, choice, whole, now_ms, answer);
  }
}

// ---- Batches -------------------------------------------------------------------------------------------------------

// Judges the batch, one client after the other, and empties it. All or nothing: where the clock is too early for one of
// them, none is judged. Leaves in the answer where the results are: of each client three words, of which the first is 1
// when it was admitted and else 0.
TIERLIMIT_EXPORT std::int32_t tierlimit_allow_many(TierLimiter* limiter, std::int32_t tier, double cost,
                                                   double now_ms) {
  const std::uint32_t size = std::exchange(batch.size, 0);
  const std::optional<std::int64_t> now = to_micros(now_ms);
  if (!now) return invalid_time;
  if (!limiter->seeded()) return not_seeded;
  for (std::uint32_t i = 0; i < size; ++i) {
    const std::int64_t earliest = limiter->earliest(batch.clients[i], TierChoice{tier});
    if (*now < earliest) return tell_clock_error(answer, earliest);
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    const Status status = status_of(limiter->admit(batch.clients[i], TierChoice{tier}, whole_cost(cost), *now));
    if (status < 0) return status;  // The first one's, which is that of all.
    batch.clients[i].a = static_cast<std::uint32_t>(status);
  }
  answer.results = batch.clients;
  return 0;
}

// Gives back what the last batch took, where that is much.
TIERLIMIT_EXPORT void tierlimit_batch_end() {
  batch.size = 0;
  if (batch.capacity <= batch_kept) return;
  std::free(batch.clients);
  batch = {};
}
