// SPDX-License-Identifier: MIT
// Random sequences of operations. Half of the inputs are compared with the reference in reference.hpp, answer by
// answer; the other half use what it does not know (prorated accrual, forgetting, little memory, shadow policies), and
// what must be true of any answer is looked at. In both a snapshot is restored now and then, at another reading of the
// clock.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "documents.hpp"
#include "expect.hpp"
#include "input.hpp"
#include "reference.hpp"
#include "snapshot_bytes.hpp"
#include "tierlimit/limiter.hpp"

namespace {

using tierlimit::Decision;
using tierlimit::ErrorCode;
using tierlimit::LimiterOptions;
using tierlimit::OnRaise;
using tierlimit::Reason;
using tierlimit::Request;
using tierlimit::Result;
using tierlimit::TierLimiter;

constexpr std::int64_t second = documents::second;
constexpr std::array<const char*, 12> clients{"acme", "initech", "globex", "umbrella", "e", "f",
                                              "g",    "h",       "i",      "j",        "k", ""};
constexpr std::array<const char*, 5> tiers{"a", "b", "c", "nowhere", ""};
constexpr std::array<std::int64_t, 16> steps{
    0,      0,          0,  1,           2,          333'333, second / 2,  second,
    second, 3 * second, -1, 10 * second, second - 1, -second, 60 * second, 86400 * second};
constexpr std::array<std::uint64_t, 12> costs{1, 1, 1, 1, 2, 2, 3, 4, 5, 9, 100, tierlimit::max_cost};
constexpr std::array<std::int64_t, 5> begins{0, 1'000'000 * second, -5'000'000 * second, -tierlimit::max_micros,
                                             tierlimit::max_micros - 100'000 * second};

struct Held {
  tierlimit::Reservation reservation;
  reference::Hold hold;
};

bool same(const Decision& a, const Decision& b) {
  if (a.allowed != b.allowed || a.limit != b.limit || a.remaining != b.remaining || a.retry != b.retry ||
      a.reset != b.reset || a.window != b.window || a.tier != b.tier || a.limit_name != b.limit_name ||
      a.reason != b.reason || a.fallback != b.fallback || a.limits.size() != b.limits.size()) {
    return false;
  }
  return std::equal(a.limits.begin(), a.limits.end(), b.limits.begin(), [](const auto& one, const auto& other) {
    return one.name == other.name && one.limit == other.limit && one.remaining == other.remaining &&
           one.retry == other.retry && one.reset == other.reset && one.window == other.window && one.more == other.more;
  });
}

bool same(const Decision& decision, const reference::Answer& answer) {
  const reference::Part& binding = answer.parts[answer.binding];
  const Reason reason = answer.allowed ? Reason::ok : binding.reason;
  if (decision.allowed != answer.allowed || decision.limit_name != binding.name || decision.limit != binding.limit ||
      decision.remaining != binding.remaining || decision.retry != binding.retry || decision.reset != binding.reset ||
      decision.window != binding.window || decision.reason != reason || decision.fallback != answer.fallback ||
      decision.tier != answer.tier) {
    return false;
  }
  return std::equal(decision.limits.begin(), decision.limits.end(), answer.parts.begin(), answer.parts.end(),
                    [](const auto& limit, const auto& part) {
                      return limit.name == part.name && limit.limit == part.limit &&
                             limit.remaining == part.remaining && limit.retry == part.retry &&
                             limit.reset == part.reset && limit.window == part.window && limit.more == part.more;
                    });
}

/// What is true of any decision.
void check_shape(const Decision& decision) {
  EXPECT(decision.allowed == (decision.reason == Reason::ok));
  EXPECT(decision.allowed == (decision.retry == std::uint64_t{0}) || decision.reason == Reason::table_full);
  EXPECT(!decision.limits.empty());
  bool binds = false;
  for (const auto& limit : decision.limits) {
    EXPECT(limit.remaining >= 0);
    EXPECT(static_cast<double>(limit.remaining) <= limit.limit);
    EXPECT(limit.reset != std::uint64_t{0} || static_cast<double>(limit.remaining) > limit.limit - 1);
    binds =
        binds || (limit.name == decision.limit_name && limit.remaining == decision.remaining &&
                  limit.retry == decision.retry && limit.reset == decision.reset && limit.window == decision.window);
    EXPECT(!limit.window || !limit.reset || *limit.reset <= *limit.window);
    EXPECT(limit.more.has_value() == limit.window.has_value());
    EXPECT(!limit.more || (*limit.more > 0 && *limit.more <= *limit.window));
  }
  EXPECT(binds);
}

class Sequence {
 public:
  explicit Sequence(Input& input) : input_(input) {
    const std::uint8_t kind = input.byte();
    compares_ = kind % 2 == 0;
    options_.sweep = !compares_ && kind / 2 % 2 != 0;
    const bool small = !compares_ && kind / 4 % 2 != 0;
    if (small) {
      options_.max_clients = 8;
      options_.max_bytes = 4096;
    }
    if (kind / 8 % 2 != 0) options_.on_full = LimiterOptions::OnFull::deny;
    now_ = input.pick(begins);
    limiter_ = std::make_unique<TierLimiter>(options_);
    set_policies();
    EXPECT(limiter_->seed({input.byte(), 2}));
  }

  void run() {
    while (!input_.empty()) {
      const std::uint8_t operation = input_.byte();
      now_ = std::clamp(now_ + input_.pick(steps), -tierlimit::max_micros - shift_, tierlimit::max_micros - shift_);
      switch (operation % 16) {
        default: decide(); break;
        case 8: peek(); break;
        case 9: set_policies(); break;
        case 10: set_tier(); break;
        case 11: refund(); break;
        case 12: reserve(); break;
        case 13: settle(); break;
        case 14: move_over(); break;
        case 15: set_shadow(); break;
      }
    }
  }

 private:
  // What the limiter's clock reads.
  [[nodiscard]] std::int64_t reading() const { return now_ + shift_; }

  Request request() {
    const char* const client = clients[input_.byte() % clients.size()];
    const std::uint64_t cost = input_.pick(costs);
    const std::uint8_t tier = input_.byte();
    return {client, cost, tier < 160 ? std::nullopt : std::optional<std::string_view>{tiers[tier % tiers.size()]}};
  }

  std::optional<reference::Answer> expected(const Request& request, bool store) {
    const std::optional<std::string> tier =
        request.tier ? std::optional<std::string>{std::string(*request.tier)} : std::nullopt;
    return reference_.check(std::string(request.client), static_cast<std::int64_t>(request.cost), tier, now_, store);
  }

  Result<Decision> look(const Request& request) {
    auto peeked = limiter_->peek(request, reading());
    EXPECT(peeked.ok() || peeked.error().code == ErrorCode::clock);
    if (peeked.ok()) check_shape(peeked.value());
    if (compares_) {
      const auto answer = expected(request, false);
      EXPECT(peeked.ok() == answer.has_value());
      EXPECT(!answer || same(peeked.value(), *answer));
    }
    return peeked;
  }

  void peek() {
    const Request asked = request();
    const auto first = look(asked);
    const auto once_more = limiter_->peek(asked, reading());
    EXPECT(first.ok() == once_more.ok());
    EXPECT(!first.ok() || same(first.value(), once_more.value()));
  }

  void decide() {
    const Request asked = request();
    const auto peeked = look(asked);
    const bool foretold = peeked.ok() && peeked.value().allowed;
    const auto decided = limiter_->check(asked, reading());
    EXPECT(decided.ok() == peeked.ok());
    if (compares_) {
      const auto answer = expected(asked, true);
      EXPECT(decided.ok() == answer.has_value());
      EXPECT(!answer || same(decided.value(), *answer));
    }
    if (!decided.ok()) return;
    const Decision& decision = decided.value();
    check_shape(decision);
    EXPECT(decision.allowed == foretold);
    if (!decision.allowed && decision.reason != Reason::table_full && decision.retry) obey(asked, *decision.retry);
  }

  // Who waits as long as was said is admitted, and not a microsecond earlier.
  void obey(const Request& asked, std::uint64_t retry) {
    if (retry > static_cast<std::uint64_t>(tierlimit::max_micros - reading())) return;
    const auto later = reading() + static_cast<std::int64_t>(retry);
    const auto in_time = limiter_->peek(asked, later);
    EXPECT(in_time.ok());
    EXPECT(in_time.value().allowed || in_time.value().reason == Reason::table_full);
    EXPECT(!limiter_->peek(asked, later - 1).value().allowed);
  }

  void set_policies() {
    const auto& all_documents = compares_ ? documents::compared() : documents::prorated();
    const documents::Document& document = all_documents[input_.byte() % all_documents.size()];
    const bool accepted = limiter_->set_policies(documents::text_of(document), reading()).ok();
    // A time before the last change is refused only where times count.
    EXPECT(accepted || !compares_);
    if (accepted) reference_.set_policies(document);
  }

  void set_tier() {
    const char* const client = clients[input_.byte() % clients.size()];
    const std::uint8_t choice = input_.byte();
    const auto tier = choice % 8 == 0 ? std::nullopt : std::optional<std::string>{tiers[choice % tiers.size()]};
    const auto on_raise = static_cast<OnRaise>(choice / 64);
    const auto named = tier ? std::optional<std::string_view>{*tier} : std::nullopt;
    const auto set = limiter_->set_tier(client, named, on_raise, reading());
    EXPECT(set.ok() || !compares_);
    if (set.ok()) reference_.set_tier(client, tier, on_raise);
  }

  void refund() {
    const Request asked = request();
    const auto done = limiter_->refund(asked, reading());
    EXPECT(done.ok() || done.error().code == ErrorCode::clock);
    if (!compares_) return;
    const std::optional<std::string> tier =
        asked.tier ? std::optional<std::string>{std::string(*asked.tier)} : std::nullopt;
    const auto tokens = static_cast<std::int64_t>(asked.cost);
    EXPECT(done.ok() == reference_.refund(std::string(asked.client), tokens, tier, now_, nullptr));
  }

  void reserve() {
    const Request asked = request();
    auto reserved = limiter_->reserve(asked, reading());
    const auto answer = compares_ ? expected(asked, true) : std::nullopt;
    EXPECT(!compares_ || reserved.ok() == answer.has_value());
    if (!reserved.ok()) return;
    check_shape(reserved.value().decision);
    EXPECT(!compares_ || same(reserved.value().decision, *answer));
    if (!reserved.value().decision.allowed) return;
    const std::optional<std::string> tier =
        asked.tier ? std::optional<std::string>{std::string(*asked.tier)} : std::nullopt;
    held_.push_back({std::move(reserved.value()),
                     reference_.hold(std::string(asked.client), static_cast<std::int64_t>(asked.cost), tier, now_)});
  }

  void settle() {
    const std::uint8_t choice = input_.byte();
    const std::uint64_t actual = choice == 0 ? 0 : input_.pick(costs);
    if (held_.empty()) return;
    const std::size_t which = choice % held_.size();
    const auto& [reservation, hold] = held_[which];
    const auto settled = limiter_->settle(reservation, actual, reading());
    EXPECT(settled.ok() || settled.error().code == ErrorCode::clock);
    const std::int64_t more = static_cast<std::int64_t>(actual) - hold.cost;
    if (compares_ && more > 0) {
      const auto debt = reference_.charge_more(hold, more, now_);
      EXPECT(settled.ok() == debt.has_value());
      EXPECT(!debt || settled.value().debt == static_cast<std::uint64_t>(*debt));
    } else if (compares_ && more < 0) {
      EXPECT(settled.ok() == reference_.refund(hold.client, -more, hold.tier, now_, &hold));
    }
    EXPECT(!settled.ok() || settled.value().debt <= static_cast<std::uint64_t>(std::max(more, std::int64_t{0})));
    if (settled.ok()) held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(which));
  }

  // The limiter goes on in another process, by another clock.
  void move_over() {
    Bytes bytes = snapshot_of(*limiter_, reading());
    const std::int64_t shift = input_.pick(begins) - now_;
    auto restored = std::make_unique<TierLimiter>(options_);
    EXPECT(restored->restore(from(bytes), now_ + shift).ok());
    EXPECT(restored->revision() == limiter_->revision());
    EXPECT(restored->stats().buckets == limiter_->stats().buckets);
    for (const char* const client : clients) {
      for (std::size_t i = 0; i <= tiers.size(); ++i) {
        const auto tier = i == tiers.size() ? std::nullopt : std::optional<std::string_view>{tiers[i]};
        const auto before = limiter_->peek({client, 1, tier}, reading());
        const auto after = restored->peek({client, 1, tier}, now_ + shift);
        EXPECT(before.ok() == after.ok());
        // Where there is no room, who would go depends on where the buckets came to be.
        EXPECT(!before.ok() || same(before.value(), after.value()) || before.value().reason == Reason::table_full ||
               after.value().reason == Reason::table_full);
      }
    }
    limiter_ = std::move(restored);
    shift_ = shift;
    // Nothing can be settled there.
    held_.clear();
  }

  void set_shadow() {
    const std::uint8_t choice = input_.byte();
    if (choice % 4 == 0) {
      limiter_->clear_shadow();
    } else {
      const auto& all_documents = choice % 2 == 0 ? documents::compared() : documents::prorated();
      EXPECT(limiter_->set_shadow_policies(documents::text_of(all_documents[choice / 4 % all_documents.size()])).ok());
    }
  }

  Input& input_;
  LimiterOptions options_;
  bool compares_ = false;
  std::int64_t now_ = 0;
  std::int64_t shift_ = 0;  // What the limiter's clock reads when this one reads 0.
  std::unique_ptr<TierLimiter> limiter_;
  reference::Limiter reference_;
  std::vector<Held> held_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  Input input(bytes, size);
  Sequence(input).run();
  return 0;
}
