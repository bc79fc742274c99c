// SPDX-License-Identifier: Apache-2.0
// Which shapes a calibration measures: a grid per kernel class and format, thinned to the time that
// there is.
#pragma once
#include <string>
#include <vector>

#include "kernels/backend.h"

namespace kvplan {

enum class Effort { quick, usual, full };

// Shapes of one class and format, enough for a fit of their own.
struct Series {
  std::string what;  // "weights bf16"
  std::vector<Problem> problems;
};

// Rates of a first look at the machine, to tell how long a sample takes.
struct Pace {
  BytesPerSecond read;
  FlopsPerSecond arithmetic;
  Bytes largest;  // a problem that fits into the buffers
};

Work work_of(const Problem&);
Seconds expected_time(const Problem&, const Pace&);

std::vector<Series> all_series(Effort);
// Without problems that do not fit, and without the longest ones until `samples` of each of the
// rest take no longer than `budget`. At least 8 stay, or a fit would be none.
Series thinned(const Series&, const Pace&, std::size_t samples, Seconds budget);

}  // namespace kvplan
