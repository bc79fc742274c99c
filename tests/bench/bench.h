// SPDX-License-Identifier: Apache-2.0
// The budgets of the command, measured in one run on one machine. Not part of the suite: a timed
// test is a test that fails on a busy machine.
#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace kvplan::bench {

struct Result {
  std::string what;
  double measured = 0;
  double budget = 0;
  std::string unit;
  bool more_is_better = false;

  // At least 1 where the budget is met.
  double margin() const { return more_is_better ? measured / budget : budget / measured; }
};

std::vector<Result> decode_rows();              // rows per second, one core
std::vector<Result> engine_plans();             // plans per second, one core
std::vector<Result> start(const char* binary);  // wall time and memory of `plan`, against python3

std::vector<Result> checkpoints();  // wall time and memory of reading large ones

// Calls per second of `call(i)`, i = 0, 1, …, for about `seconds`.
template <class Call>
double rate(Call call, double seconds = 0.5) {
  using Clock = std::chrono::steady_clock;
  constexpr int kChunk = 1000;
  const auto begin = Clock::now();
  std::int64_t calls = 0;
  double passed = 0;
  while (passed < seconds) {
    for (int i = 0; i < kChunk; ++i) call(calls + i);
    calls += kChunk;
    passed = std::chrono::duration<double>(Clock::now() - begin).count();
  }
  return static_cast<double>(calls) / passed;
}

}  // namespace kvplan::bench
