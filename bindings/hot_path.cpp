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
#define TIERLIMIT_CLIENT_OF(limiter) client_of(limiter, length, w0, w1, w2, w3, w4, w5)

namespace {

using namespace tierlimit;

constexpr std::int32_t fingerprint_given = -1;  // The first three words are the client's fingerprint.
constexpr std::int32_t text_given = -2;         // The name is the text that was last taken in.

// What a call returns: whether the request is admitted, or below 0 why there is no decision.
enum Status : std::int32_t {
  denied = 0,
  admitted = 1,
  clock_error = -1,
  invalid_time = -2,
  invalid_cost = -3,
  not_seeded = -4,
  no_policies = -5,
  out_of_memory = -6,
};

// What one limit said, of those that judged together.
struct LimitAnswer {
  double limit;
  double remaining;
  double retry_ms;   // -1: never
  double reset_ms;   // -1: never
  double window_ms;  // -1: never
  double more_ms;    // -1: never
  const char* name;  // Until the limiter's next document.
  std::uint32_t name_size;
};

// What `check` and others leave behind, as JavaScript reads it.
struct Answer {
  double touched_ms;  // only after a clock error
  double debt;
  std::int32_t reason;
  std::int32_t fallback;
  std::int32_t tier;      // -1: none that the core knows the name of
  std::uint32_t limits;   // so many, and
  std::uint32_t binding;  // the one that binds
  Fingerprint fingerprint;
  const Fingerprint* results;
  LimitAnswer limit[Policy::most_limits];
  Hold hold;
};
static_assert(offsetof(Answer, limit) == 56 && offsetof(Answer, hold) == 504 && sizeof(Answer) == 624,
              "js/src/hot-path.js and README.md know where things are");
Answer answer;

// A name that does not travel as words comes through here, a piece at a time. js/src/hot-path.js knows its size.
alignas(8) char text_buffer[4096];
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

[[gnu::always_inline]] inline Fingerprint fingerprint_of(const TierLimiter& limiter, TIERLIMIT_CLIENT) noexcept {
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

[[gnu::always_inline]] inline Fingerprint client_here(const TierLimiter& limiter, TIERLIMIT_CLIENT) noexcept {
  if (length >= 0) return fingerprint_of(limiter, length, w0, w1, w2, w3, w4, w5);
  return length == text_given ? text_fingerprint : Fingerprint{w0, w1, w2};
}

// Once for all but the call that is made most.
[[gnu::noinline]] Fingerprint client_of(const TierLimiter& limiter, TIERLIMIT_CLIENT) noexcept {
  return client_here(limiter, length, w0, w1, w2, w3, w4, w5);
}

Status status_of(Judgement::Status status) noexcept {
  switch (status) {
    case Judgement::Status::admitted: return admitted;
    case Judgement::Status::denied: return denied;
    case Judgement::Status::clock: return clock_error;
    case Judgement::Status::invalid_cost: return invalid_cost;
    case Judgement::Status::not_seeded: return not_seeded;
    case Judgement::Status::no_policies: return no_policies;
  }
  return no_policies;
}

double in_ms(const std::optional<std::uint64_t>& wait, double now_ms) noexcept {
  return wait ? wait_ms(now_ms, *wait) : -1;
}

Status tell_clock_error(std::int64_t touched) noexcept {
  answer.touched_ms = static_cast<double>(touched) / 1000;
  return clock_error;
}

// What a request is asked for.
enum class Question : std::uint8_t { check, peek, reserve };

Status ask(Question question, TierLimiter& limiter, const Fingerprint& client, TierChoice tier, double cost,
           double now_ms) {
  const std::optional<std::int64_t> now = to_micros(now_ms);
  if (!now) return invalid_time;
  const std::uint64_t whole = bindings::whole_cost(cost);
  const Judgement judgement = question == Question::peek ? limiter.preview(client, tier, whole, *now)
                                                         : limiter.judge(client, tier, whole, *now);
  const Status status = status_of(judgement.status);
  if (status == clock_error) return tell_clock_error(judgement.state.touched);
  if (status < 0) return status;
  answer.reason = static_cast<std::int32_t>(judgement.reason);
  answer.fallback = static_cast<std::int32_t>(judgement.fallback);
  answer.tier = judgement.has_tier ? static_cast<std::int32_t>(judgement.tier) : -1;
  answer.limits = TierLimiter::limits_of(judgement);
  answer.binding = judgement.binding;
  for (std::uint32_t i = 0; i < answer.limits; ++i) {
    const LimitDecision decision = limiter.describe_limit(judgement, whole, i);
    LimitAnswer& said = answer.limit[i];
    said.limit = decision.limit;
    said.remaining = static_cast<double>(decision.remaining);
    said.retry_ms = in_ms(decision.retry, now_ms);
    said.reset_ms = in_ms(decision.reset, now_ms);
    said.window_ms = decision.window ? static_cast<double>(*decision.window) / 1000 : -1;
    said.more_ms = in_ms(decision.more, now_ms);
    said.name = decision.name.data();
    // The one that nearly all policies have needs no reading.
    said.name_size = judgement.limits == 0 ? 0 : static_cast<std::uint32_t>(decision.name.size());
  }
  if (question == Question::reserve) answer.hold = limiter.hold(judgement, whole, *now);
  return status;
}

// Puts tokens back or, below 0, charges more.
Status adjust(TierLimiter& limiter, const Fingerprint& client, TierChoice tier, std::int64_t tokens, double now_ms,
              const Hold* hold) {
  const std::optional<std::int64_t> now = to_micros(now_ms);
  if (!now) return invalid_time;
  std::uint64_t debt = 0;
  const Status status = status_of(limiter.put_back(client, tier, tokens, *now, hold, debt));
  if (status == clock_error) return tell_clock_error(limiter.earliest(client, tier));
  answer.debt = static_cast<double>(debt);
  return status;
}

[[gnu::always_inline]] inline Status allow(TierLimiter* limiter, const Fingerprint& client, std::int32_t tier,
                                           double cost, double now_ms) {
  const std::optional<std::int64_t> now = to_micros(now_ms);
  if (!now) return invalid_time;
  const Status status = status_of(limiter->admit(client, TierChoice{tier}, bindings::whole_cost(cost), *now));
  return status == clock_error ? tell_clock_error(limiter->earliest(client, TierChoice{tier})) : status;
}

}  // namespace

// Whether that many bytes can be had: to be asked before a long text is handed to embind, which does not ask.
TIERLIMIT_EXPORT bool tierlimit_memory(std::uint32_t bytes) {
  // Volatile, because compilers leave out an allocation that nobody uses, and take it for granted.
  void* volatile const probe = std::malloc(bytes);
  const bool available = probe != nullptr;
  std::free(probe);
  return available;
}

TIERLIMIT_EXPORT const void* tierlimit_answer() { return &answer; }
TIERLIMIT_EXPORT char* tierlimit_buffer() { return text_buffer; }

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
  text_hash->words(text_buffer, whole);
  text_size += whole;
  const std::uint32_t left = bytes - whole;
  if (!last) {
    std::memmove(text_buffer, text_buffer + whole, left);
    return left;
  }
  text_fingerprint = Fingerprint::of(text_hash->finish({text_buffer + whole, left}, text_size + left));
  return 0;
}

// Leaves the client's fingerprint in the answer.
TIERLIMIT_EXPORT std::int32_t tierlimit_fingerprint(const TierLimiter* limiter, TIERLIMIT_CLIENT) {
  if (!limiter->seeded()) return not_seeded;
  answer.fingerprint = TIERLIMIT_CLIENT_OF(*limiter);
  return 0;
}

TIERLIMIT_EXPORT std::int32_t tierlimit_allow(TierLimiter* limiter, TIERLIMIT_CLIENT, std::int32_t tier, double cost,
                                              double now_ms) {
  if (!limiter->seeded()) return not_seeded;
  return allow(limiter, client_here(*limiter, length, w0, w1, w2, w3, w4, w5), tier, cost, now_ms);
}

// The same by the client's fingerprint.
TIERLIMIT_EXPORT std::int32_t tierlimit_allow_known(TierLimiter* limiter, std::uint32_t a, std::uint32_t b,
                                                    std::uint32_t c, std::int32_t tier, double cost, double now_ms) {
  return allow(limiter, {a, b, c}, tier, cost, now_ms);
}

TIERLIMIT_EXPORT std::int32_t tierlimit_check(TierLimiter* limiter, TIERLIMIT_CLIENT, std::int32_t tier, double cost,
                                              double now_ms) {
  if (!limiter->seeded()) return not_seeded;
  return ask(Question::check, *limiter, TIERLIMIT_CLIENT_OF(*limiter), TierChoice{tier}, cost, now_ms);
}

TIERLIMIT_EXPORT std::int32_t tierlimit_peek(TierLimiter* limiter, TIERLIMIT_CLIENT, std::int32_t tier, double cost,
                                             double now_ms) {
  if (!limiter->seeded()) return not_seeded;
  return ask(Question::peek, *limiter, TIERLIMIT_CLIENT_OF(*limiter), TierChoice{tier}, cost, now_ms);
}

// Checks, and leaves in the answer what it was charged to: to be kept as bytes until it is settled.
TIERLIMIT_EXPORT std::int32_t tierlimit_reserve(TierLimiter* limiter, TIERLIMIT_CLIENT, std::int32_t tier, double cost,
                                                double now_ms) {
  if (!limiter->seeded()) return not_seeded;
  return ask(Question::reserve, *limiter, TIERLIMIT_CLIENT_OF(*limiter), TierChoice{tier}, cost, now_ms);
}

// Settles what is held in the answer by its actual cost, which may be 0.
TIERLIMIT_EXPORT std::int32_t tierlimit_settle(TierLimiter* limiter, TIERLIMIT_CLIENT, std::int32_t tier, double actual,
                                               double now_ms) {
  if (!limiter->seeded()) return not_seeded;
  const std::uint64_t whole = bindings::whole_cost(actual);
  if (whole == 0 && actual != 0) return invalid_cost;
  const auto tokens = static_cast<std::int64_t>(answer.hold.cost) - static_cast<std::int64_t>(whole);
  return adjust(*limiter, TIERLIMIT_CLIENT_OF(*limiter), TierChoice{tier}, tokens, now_ms, &answer.hold);
}

TIERLIMIT_EXPORT std::int32_t tierlimit_refund(TierLimiter* limiter, TIERLIMIT_CLIENT, std::int32_t tier, double cost,
                                               double now_ms) {
  if (!limiter->seeded()) return not_seeded;
  const std::uint64_t whole = bindings::whole_cost(cost);
  if (whole == 0) return invalid_cost;
  return adjust(*limiter, TIERLIMIT_CLIENT_OF(*limiter), TierChoice{tier}, static_cast<std::int64_t>(whole), now_ms,
                nullptr);
}

// ---- Batches -------------------------------------------------------------------------------------------------------

// One more client for `tierlimit_allow_many`.
TIERLIMIT_EXPORT std::int32_t tierlimit_batch(const TierLimiter* limiter, TIERLIMIT_CLIENT) {
  if (!limiter->seeded()) return not_seeded;
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
  batch.clients[batch.size++] = TIERLIMIT_CLIENT_OF(*limiter);
  return 0;
}

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
    if (*now < earliest) return tell_clock_error(earliest);
  }
  for (std::uint32_t i = 0; i < size; ++i) {
    const Status status =
        status_of(limiter->admit(batch.clients[i], TierChoice{tier}, bindings::whole_cost(cost), *now));
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
