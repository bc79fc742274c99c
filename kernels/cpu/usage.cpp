// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/usage.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>

namespace kvplan {
namespace {

Seconds seconds(const timeval& t) {
  return Seconds(static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec));
}

// proc(5), first line: user nice system idle iowait irq softirq steal, in clock ticks.
struct ProcessorTimes {
  std::array<double, 8> ticks{};
  Seconds total() const {
    double sum = 0;
    for (const double count : ticks) sum += count;
    return of(sum);
  }
  Seconds idle() const { return of(ticks[3] + ticks[4]); }
  Seconds stolen() const { return of(ticks[7]); }

 private:
  static Seconds of(double ticks) {
    return Seconds(ticks / static_cast<double>(sysconf(_SC_CLK_TCK)));
  }
};

std::optional<ProcessorTimes> processor_times() {
  std::ifstream in("/proc/stat");
  std::string label;
  ProcessorTimes times;
  if (!(in >> label)) return std::nullopt;
  for (double& count : times.ticks)
    if (!(in >> count)) return std::nullopt;
  return times;
}

}  // namespace

std::optional<Usage> usage_now() {
  const auto times = processor_times();
  rusage own{};
  if (!times || getrusage(RUSAGE_SELF, &own) != 0) return std::nullopt;
  const Seconds mine = seconds(own.ru_utime) + seconds(own.ru_stime);
  return Usage{times->total(), times->total() - times->idle() - mine};
}

std::optional<Seconds> stolen_until_now() {
  const auto times = processor_times();
  return times ? std::optional(times->stolen()) : std::nullopt;
}

WaitingTime::WaitingTime() : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

WaitingTime::~WaitingTime() {
  if (file_ >= 0) close(file_);
}

// Linux, Documentation/scheduler/sched-stats: nanoseconds that ran, nanoseconds that waited, turns.
std::optional<Seconds> WaitingTime::until_now() const {
  std::array<char, 80> text{};
  if (file_ < 0 || pread(file_, text.data(), text.size() - 1, 0) <= 0) return std::nullopt;
  char* end = nullptr;
  std::strtoull(text.data(), &end, 10);
  return Seconds(1e-9 * static_cast<double>(std::strtoull(end, nullptr, 10)));
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
    std::uint64_t x = 1, three = 3;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < kChain; ++j) {
        x += three;
        asm volatile("" : "+r"(x), "+r"(three));  // keeps the additions apart
      }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    fastest = std::max(fastest, kRounds * kChain / time.count());
  }
  return Hertz(fastest);
}

}  // namespace kvplan
