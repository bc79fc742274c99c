// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/team.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>

#include "kernels/cpu/usage.h"

namespace kvplan {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Best effort: a container may forbid it, and then times are noisier, which the statistics show.
void pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

}  // namespace

std::vector<int> usable_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

Slice slice_of(std::int64_t count, int part, int parts, std::int64_t grain) {
  const std::int64_t grains = ceil_div(count, grain);
  const auto edge = [&](int p) { return std::min(count, grains * p / parts * grain); };
  return {edge(part), edge(part + 1)};
}

// The members and the caller pass start_ and end_; meeting_ is among members only.
Team::Team(int threads)
    : start_((threads > 0 ? threads : static_cast<int>(usable_cpus().size())) + 1),
      end_((threads > 0 ? threads : static_cast<int>(usable_cpus().size())) + 1),
      meeting_(threads > 0 ? threads : static_cast<int>(usable_cpus().size())) {
  const std::vector<int> cpus = usable_cpus();
  const int count = threads > 0 ? threads : static_cast<int>(cpus.size());
  waited_.resize(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    members_.emplace_back(&Team::member, this, i, cpus[static_cast<std::size_t>(i) % cpus.size()]);
}

Team::~Team() {
  over_ = true;
  start_.arrive_and_wait();
  for (std::thread& thread : members_) thread.join();
}

Seconds Team::run(const Task& task) {
  task_ = task;
  const auto stolen = stolen_until_now();
  start_.arrive_and_wait();
  end_.arrive_and_wait();
  lost_ = *std::max_element(waited_.begin(), waited_.end());
  if (const auto stolen_now = stolen_until_now(); lost_ && stolen && stolen_now)
    *lost_ += *stolen_now - *stolen;
  return Seconds(ended_ - began_);
}

void Team::member(int thread, int cpu) {
  pin_to(cpu);
  WaitingTime waiting;
  for (;;) {
    start_.arrive_and_wait();
    if (over_) return;
    const auto before = waiting.until_now();
    meet();  // all are awake
    if (thread == 0) began_ = now();
    task_(thread);
    meet();
    if (thread == 0) ended_ = now();
    const auto after = waiting.until_now();
    waited_[thread] = before && after ? std::optional(*after - *before) : std::nullopt;
    end_.arrive_and_wait();
  }
}

}  // namespace kvplan
