// SPDX-License-Identifier: Apache-2.0
// A fixed team of threads, one per CPU and pinned to it, that runs one function together and is
// timed from barrier to barrier. Unpinned threads give two different bandwidths at random.
#pragma once
#include <barrier>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "units.h"

namespace kvplan {

class Team {
 public:
  using Task = std::function<void(int thread)>;

  // `threads` = 0: one for each CPU that this process may use.
  explicit Team(int threads = 0);
  ~Team();
  Team(const Team&) = delete;  // threads refer to it
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(members_.size()); }
  // All members run `task` at once; returns when the last is done. The time excludes waking them.
  Seconds run(const Task& task);
  // The longest that a member waited for its processor in the last run, and what a hypervisor took
  // then, which it tells in ticks of 10 ms. Empty when the system does not tell.
  std::optional<Seconds> lost() const { return lost_; }
  // Within a task: wait for all members.
  void meet() { meeting_.arrive_and_wait(); }

 private:
  void member(int thread, int cpu);

  std::barrier<> start_, end_, meeting_;
  Task task_;
  bool over_ = false;
  double began_ = 0, ended_ = 0;                // seconds of the steady clock, by member 0
  std::vector<std::optional<Seconds>> waited_;  // by each member in the last run
  std::optional<Seconds> lost_;
  std::vector<std::thread> members_;
};

// CPUs that this process may use, by number.
std::vector<int> usable_cpus();

// [first, last) of `count` units for one of `parts`, in whole multiples of `grain`.
struct Slice {
  std::int64_t first = 0, last = 0;
};
Slice slice_of(std::int64_t count, int part, int parts, std::int64_t grain = 1);

}  // namespace kvplan
