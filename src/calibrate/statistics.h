// SPDX-License-Identifier: Apache-2.0
// Orders and spreads of samples. None of these depends on a distribution.
#pragma once
#include <vector>

#include "units.h"

namespace kvplan {

// Linear between order statistics; 0 <= q <= 1; throws Error on no numbers.
double quantile(std::vector<double> numbers, double q);

struct Spread {
  double median = 0, p10 = 0, p90 = 0;
  double interquartile = 0;       // p75 - p25
  double absolute_deviation = 0;  // median |x - median|, times 1.4826 (σ of a normal distribution)
  double noise() const { return (p90 - p10) / median; }
};
Spread spread_of(const std::vector<double>& numbers);

// Distribution-free bounds of `coverage` of unseen numbers (split conformal prediction, Vovk et
// al.; Lei et al. 2018): order statistics of n + 1, the outermost where there are too few.
struct Bounds {
  double low = 0, high = 0;
};
Bounds conformal(std::vector<double> numbers, double coverage);

}  // namespace kvplan
