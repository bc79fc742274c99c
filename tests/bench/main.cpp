// SPDX-License-Identifier: Apache-2.0
// kvplan_bench: what is measured, its budget, and how many times better than that it is. Exit
// status 1 where a budget is missed.
#include <fmt/format.h>

#include "bench/bench.h"

int main() {
  using namespace kvplan::bench;
  bool met = true;
  fmt::print("{:<38} {:>14} {:>14} {:>8}\n", "what", "measured", "budget", "margin");
  const auto print = [&](const std::vector<Result>& results) {
    for (const Result& r : results) {
      fmt::print("{:<38} {:>14} {:>14} {:>8}\n", r.what,
                 fmt::format("{:.4g} {}", r.measured, r.unit),
                 fmt::format("{:.4g} {}", r.budget, r.unit), fmt::format("{:.2f}x", r.margin()));
      met = met && r.margin() >= 1;
    }
  };
  print(start(KVPLAN_BINARY));
  print(decode_rows());
  print(engine_plans());
  print(checkpoints());
  return met ? 0 : 1;
}
