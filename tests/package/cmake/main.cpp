// SPDX-License-Identifier: MIT
#include <tierlimit/policy_set.hpp>

int main() {
  const auto policies = tierlimit::PolicySet::from_json(R"({"default": {"capacity": 5, "refillPerSecond": 1}})");
  return policies ? 0 : 1;
}
