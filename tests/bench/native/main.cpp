// SPDX-License-Identifier: MIT
// The native core against a hand-written limiter, measured as rounds.js does it: in every round each subject does the
// same requests, in rotating order. Prints a line of JSON for each workload.
//
//   tierlimit_bench <rounds> <clients> …
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "map_limiter.hpp"
#include "requests.hpp"
#include "tierlimit/tierlimit.hpp"

namespace {

constexpr std::size_t batch_size = 500;
constexpr std::size_t warm_batches = 1;
constexpr std::size_t timed_batches = 20;
constexpr std::size_t batches = warm_batches + timed_batches;
constexpr int warm_rounds = 3;

// As in settings.js.
struct Outcome {
  const char* name;
  bool admitted;
  double capacity;
  double refill_per_second;
  std::uint64_t first;  // Tokens that every client has spent.
};
constexpr Outcome outcomes[] = {{"admitted", true, 1e9, 0.001, 1}, {"denied", false, 5, 0.001, 5}};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "tierlimit_bench: %s\n", what.c_str());
  std::exit(2);
}

class Subject {
 public:
  explicit Subject(const char* kind) : label(kind) {}
  virtual ~Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;

  virtual void meet(const std::string& client, std::uint64_t cost, std::int64_t now_us) = 0;
  // One request for each name; how many were admitted. The loop is in here, so that a call
  // costs what it costs users and no virtual call more.
  virtual std::size_t run(const std::vector<std::string>& names, std::int64_t now_us) = 0;

  const char* const label;
  std::vector<double> ns;
};

std::unique_ptr<tierlimit::TierLimiter> limiter_for(const Outcome& outcome, std::uint32_t clients) {
  auto limiter = std::make_unique<tierlimit::TierLimiter>(
      tierlimit::LimiterOptions{.max_clients = 2 * clients, .max_bytes = 1ULL << 31});
  const std::string policies = "{\"default\":{\"capacity\":" + std::to_string(outcome.capacity) +
                               ",\"refillPerSecond\":" + std::to_string(outcome.refill_per_second) + "}}";
  if (!limiter->set_policies(policies)) fail("the policies are refused: " + policies);
  limiter->seed({0x0123456789abcdef, 0xfedcba9876543210});
  return limiter;
}

class Admit : public Subject {
 public:
  Admit(const Outcome& outcome, std::uint32_t clients) : Subject("admit"), limiter_(limiter_for(outcome, clients)) {}

  void meet(const std::string& client, std::uint64_t cost, std::int64_t now_us) override {
    (void)limiter_->judge(client, {}, cost, now_us);
  }
  std::size_t run(const std::vector<std::string>& names, std::int64_t now_us) override {
    std::size_t admitted = 0;
    for (const std::string& name : names) {
      admitted += limiter_->admit(name, {}, 1, now_us) == tierlimit::Judgement::Status::admitted;
    }
    return admitted;
  }

 private:
  std::unique_ptr<tierlimit::TierLimiter> limiter_;
};

class Check : public Subject {
 public:
  Check(const Outcome& outcome, std::uint32_t clients) : Subject("check"), limiter_(limiter_for(outcome, clients)) {}

  void meet(const std::string& client, std::uint64_t cost, std::int64_t now_us) override {
    (void)limiter_->judge(client, {}, cost, now_us);
  }
  std::size_t run(const std::vector<std::string>& names, std::int64_t now_us) override {
    std::size_t admitted = 0;
    for (const std::string& name : names) {
      const auto decision = limiter_->check({.client = name}, now_us);
      admitted += decision && decision.value().allowed;
    }
    return admitted;
  }

 private:
  std::unique_ptr<tierlimit::TierLimiter> limiter_;
};

template <class Map, class Name>
class ByHand : public Subject {
 public:
  ByHand(const char* kind, const Outcome& outcome)
      : Subject(kind), limiter_(outcome.capacity, outcome.refill_per_second) {}

  void meet(const std::string& client, std::uint64_t cost, std::int64_t now_us) override {
    limiter_.allow(client, static_cast<double>(cost), now_us);
  }
  std::size_t run(const std::vector<std::string>& names, std::int64_t now_us) override {
    std::size_t admitted = 0;
    for (const std::string& name : names) admitted += limiter_.allow(name, 1, now_us);
    return admitted;
  }

 private:
  MapLimiter<Map, Name> limiter_;
};

double take(Subject& subject, const std::vector<std::uint32_t>& clients, const Outcome& outcome, std::int64_t now_us) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::string> names(batch_size);
  Clock::duration sum{};
  for (std::size_t batch = 0; batch < batches; ++batch, now_us += 1000) {
    write_names(clients, batch * batch_size, names);
    const auto start = Clock::now();
    const std::size_t admitted = subject.run(names, now_us);
    const auto end = Clock::now();
    if (admitted != (outcome.admitted ? batch_size : 0)) fail(std::string("not as it should be: ") + subject.label);
    if (batch >= warm_batches) sum += end - start;
  }
  return std::chrono::duration<double, std::nano>(sum).count() / (timed_batches * batch_size);
}

void print(const std::vector<std::unique_ptr<Subject>>& subjects, const Outcome& outcome, std::uint32_t clients,
           const char* order) {
  std::string ns;
  for (const auto& subject : subjects) {
    ns.append(ns.empty() ? "\"" : ",\"").append(subject->label).append("\":[");
    for (const double each : subject->ns) ns.append(std::to_string(each)).append(",");
    ns.back() = ']';
  }
  std::printf(R"({"compiler":"%s","clients":%u,"outcome":"%s","order":"%s","ns":{%s}})"
              "\n",
              TIERLIMIT_COMPILER, clients, outcome.name, order, ns.c_str());
}

void bench(const Outcome& outcome, std::uint32_t clients, int rounds) {
  std::vector<std::unique_ptr<Subject>> subjects;
  subjects.push_back(std::make_unique<Admit>(outcome, clients));
  subjects.push_back(std::make_unique<Check>(outcome, clients));
  subjects.push_back(std::make_unique<ByHand<TransparentMap, std::string_view>>("unordered_map, string_view", outcome));
  subjects.push_back(std::make_unique<ByHand<StringMap, std::string>>("unordered_map, string", outcome));

  std::int64_t now_us = 1'700'000'000'000'000;
  std::vector<std::string> name(1);
  for (const auto& subject : subjects) {
    for (std::uint32_t client = 0; client < clients; ++client) {
      write_names({client}, 0, name);
      subject->meet(name[0], outcome.first, now_us);
    }
  }

  std::vector<std::uint32_t> chosen(batches * batch_size);
  for (const auto kind : {Order::Kind::uniform, Order::Kind::zipf}) {
    Order order(kind, clients);
    for (const auto& subject : subjects) subject->ns.clear();
    for (int round = -warm_rounds; round < rounds; ++round) {
      order.fill(chosen);
      for (std::size_t turn = 0; turn < subjects.size(); ++turn) {
        Subject& subject = *subjects[(static_cast<std::size_t>(round + warm_rounds) + turn) % subjects.size()];
        const double ns = take(subject, chosen, outcome, now_us);
        if (round >= 0) subject.ns.push_back(ns);
      }
      now_us += 1000 * static_cast<std::int64_t>(batches);
    }
    print(subjects, outcome, clients, kind == Order::Kind::uniform ? "uniform" : "zipf");
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) fail("usage: tierlimit_bench <rounds> <clients> …");
  for (int i = 2; i < count; ++i) {
    for (const Outcome& outcome : outcomes) {
      bench(outcome, static_cast<std::uint32_t>(std::strtoul(arguments[i], nullptr, 10)),
            static_cast<int>(std::strtol(arguments[1], nullptr, 10)));
    }
  }
  return 0;
}
