// SPDX-License-Identifier: Apache-2.0
// One measured time of one shape, wherever it was measured.
#pragma once
#include <string>
#include <vector>

#include "cost/shape.h"
#include "units.h"

namespace kvplan {

struct Measured {
  Shape shape;
  Seconds time;                       // the median
  std::string variant = {};           // a collective and its library; else empty
  std::vector<Seconds> samples = {};  // raw, where they are kept

  friend bool operator==(const Measured&, const Measured&) = default;
};

}  // namespace kvplan
