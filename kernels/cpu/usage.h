// SPDX-License-Identifier: Apache-2.0
// What else the processors are busy with, and how fast their clock runs.
#pragma once
#include <optional>

#include "units.h"

namespace kvplan {

// Time of all processors together since the machine started.
struct Usage {
  Seconds total;
  Seconds others;  // busy, or taken away by a hypervisor, and not for this process
};
std::optional<Usage> usage_now();  // empty when the system does not tell

// Share of the time in between that others had.
double other_load_between(const Usage& before, const Usage& after);

// What a hypervisor took from all processors since the machine started; in ticks of 10 ms.
std::optional<Seconds> stolen_until_now();

// How long the thread that made this has waited for a processor, though it could have run.
class WaitingTime {
 public:
  WaitingTime();
  ~WaitingTime();
  WaitingTime(const WaitingTime&) = delete;  // it owns an open file
  WaitingTime& operator=(const WaitingTime&) = delete;

  std::optional<Seconds> until_now() const;  // empty when the system does not tell

 private:
  int file_;
};

// Additions that wait for each other take one cycle each, so counting them tells the clock,
// whatever a virtual machine reports.
Hertz clock_of_this_thread();

}  // namespace kvplan
