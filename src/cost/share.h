// SPDX-License-Identifier: Apache-2.0
// The matrix of one GPU, where a weight is divided over several.
#pragma once
#include <cstdint>

#include "cost/deployment.h"
#include "model/spec.h"

namespace kvplan {

// A rank holds one part in so many of a weight; whole experts are dealt out.
std::int64_t parts_of(const Weight&, const Mixer*, const Parallelism&);
// Products whose inputs are divided, so that their outputs are partial sums.
bool divides_inputs(const Weight&);

struct WeightShare {
  std::int64_t rows = 1, columns = 1;
  bool partial = false;  // divides_inputs
};
// Of dense weights.
WeightShare share_of(const Weight&, const Mixer*, const Parallelism&);

}  // namespace kvplan
