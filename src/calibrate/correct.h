// SPDX-License-Identifier: Apache-2.0
// From what a law of products leaves over to a correction of it: a sheet of springs over the
// powers of two of m, n and k (a Gaussian Markov random field: Rue, Held 2005) that is drawn
// towards each residual.
#pragma once
#include <optional>
#include <vector>

#include "cost/correction.h"

namespace kvplan {

struct Residual {
  GemmShape shape;
  double log_ratio = 0;  // log(measured / predicted)
};

// Empty where there are fewer residuals than nodes: too little is known of the regions.
std::optional<Correction> correction_of(const std::vector<Residual>&);

}  // namespace kvplan
