// SPDX-License-Identifier: Apache-2.0
#include "calibrate/statistics.h"

#include <algorithm>
#include <cmath>

namespace kvplan {

double quantile(std::vector<double> numbers, double q) {
  if (numbers.empty()) throw Error("a quantile needs at least one number");
  std::sort(numbers.begin(), numbers.end());
  const double place = q * static_cast<double>(numbers.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, numbers.size() - 1);
  return std::lerp(numbers[below], numbers[above], place - static_cast<double>(below));
}

Spread spread_of(const std::vector<double>& numbers) {
  Spread spread;
  spread.median = quantile(numbers, 0.5);
  spread.p10 = quantile(numbers, 0.1);
  spread.p90 = quantile(numbers, 0.9);
  spread.interquartile = quantile(numbers, 0.75) - quantile(numbers, 0.25);
  std::vector<double> deviations;
  for (const double x : numbers) deviations.push_back(std::abs(x - spread.median));
  spread.absolute_deviation = 1.4826 * quantile(deviations, 0.5);
  return spread;
}

Bounds conformal(std::vector<double> numbers, double coverage) {
  if (numbers.empty()) throw Error("an interval needs at least one residual");
  std::sort(numbers.begin(), numbers.end());
  // 1 - coverage is not exact in binary: 10 of 100 must not become 9.
  const double tail = (1 - coverage) / 2 * static_cast<double>(numbers.size() + 1);
  const auto outside = static_cast<std::size_t>(std::max(1.0, std::floor(tail + 1e-9)));
  const std::size_t low = std::min(outside - 1, (numbers.size() - 1) / 2);
  return {numbers[low], numbers[numbers.size() - 1 - low]};
}

}  // namespace kvplan
