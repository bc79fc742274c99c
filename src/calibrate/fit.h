// SPDX-License-Identifier: Apache-2.0
// Measured times → laws. Residuals are log(predicted / measured) under a robust loss; intervals
// come from fits that left whole values of an axis out, because unseen shapes are what a plan asks
// for.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/device.h"
#include "cost/measured.h"
#include "cost/profile.h"

namespace kvplan {

struct FitOptions {
  Caches caches = Caches::cold;  // warm: launches were repeated without flushing
  std::uint64_t seed = 1;
  double coverage = 0.8;
  std::optional<DeviceSpec> datasheet;  // laws claim no more than its rates
};

inline constexpr std::size_t kLeastRows = 8;

// One fit per class, format and variant with at least so many rows. Products with weights are
// fitted twice: few rows (weight_stream) and all (gemm).
std::vector<Fit> fit_all(const std::vector<Measured>&, const FitOptions&);
// Sets `holdout` of each fit that has rows in the table.
void judge(std::vector<Fit>&, const std::vector<Measured>&, Caches);

}  // namespace kvplan
