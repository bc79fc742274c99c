// SPDX-License-Identifier: Apache-2.0
// From predictions of unseen shapes to intervals, and how well intervals keep their promise.
#pragma once
#include <vector>

#include "cost/profile.h"

namespace kvplan {

struct Prediction {
  Seconds predicted, measured;
  Shape shape = GemmShape{};
};

// Conformal quantiles of measured / predicted by predicted time: short launches err differently
// from long ones. At least one prediction.
std::vector<Band> bands_of(std::vector<Prediction>, double coverage);

// Errors, and the share inside the fit's intervals. At least one prediction.
Quality quality_of(const std::vector<Prediction>&, const Fit&);

}  // namespace kvplan
