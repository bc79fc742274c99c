// SPDX-License-Identifier: Apache-2.0
// The matrix of one GPU, where a weight is divided over several.
#pragma once
#include <cstdint>

#include "cost/deployment.h"
#include "model/spec.h"

namespace kvplan {

struct WeightShare {
  std::int64_t rows = 1, columns = 1;
  bool partial = false;  // its inputs are divided, so that its outputs are partial sums
};
// Dense weights only: whole experts are dealt out, not cut.
WeightShare share_of(const Weight&, const Mixer*, const Parallelism&);

}  // namespace kvplan
