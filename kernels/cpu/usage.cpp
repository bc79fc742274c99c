// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/usage.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>

namespace kvplan {
namespace {

Seconds seconds(const timeval& t) {
  return Seconds(static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec));
}

}  // namespace

// proc(5), first line: user nice system idle iowait irq softirq steal, in clock ticks.
std::optional<Usage> usage_now() {
  std::ifstream in("/proc/stat");
  std::string label;
  std::array<double, 8> ticks{};
  if (!(in >> label)) return std::nullopt;
  for (double& count : ticks)
    if (!(in >> count)) return std::nullopt;
  rusage own{};
  if (getrusage(RUSAGE_SELF, &own) != 0) return std::nullopt;
  double total = 0;
  for (const double count : ticks) total += count;
  const double idle = ticks[3] + ticks[4];
  const auto per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  const Seconds mine = seconds(own.ru_utime) + seconds(own.ru_stime);
  return Usage{Seconds(total / per_second), Seconds((total - idle) / per_second) - mine};
}

double other_load_between(const Usage& before, const Usage& after) {
  const Seconds total = after.total - before.total;
  if (total <= Seconds(0)) return 0;
  return std::clamp((after.others - before.others) / total, 0.0, 1.0);
}

Hertz clock_of_this_thread() {
  constexpr int kRounds = 1000, kChain = 16, kTrials = 3;
  double fastest = 0;
  for (int trial = 0; trial < kTrials; ++trial) {  // the best one was not interrupted
    std::uint64_t x = 1;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < kChain; ++j) {
        x += 3;
        asm volatile("" : "+r"(x));  // keeps the additions apart
      }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    fastest = std::max(fastest, kRounds * kChain / time.count());
  }
  return Hertz(fastest);
}

}  // namespace kvplan
