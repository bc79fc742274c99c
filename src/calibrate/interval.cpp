// SPDX-License-Identifier: Apache-2.0
#include "calibrate/interval.h"

#include <algorithm>
#include <cmath>

#include "calibrate/statistics.h"

namespace kvplan {
namespace {

constexpr std::size_t kBands = 3, kLeastPerBand = 20;

}  // namespace

std::vector<Band> bands_of(std::vector<Prediction> predictions, double coverage) {
  std::sort(predictions.begin(), predictions.end(),
            [](const Prediction& a, const Prediction& b) { return a.predicted < b.predicted; });
  const std::size_t count = predictions.size() >= kBands * kLeastPerBand ? kBands : 1;
  std::vector<Band> bands;
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t first = predictions.size() * b / count,
                      last = predictions.size() * (b + 1) / count;
    std::vector<double> logs;
    for (std::size_t i = first; i < last; ++i)
      logs.push_back(std::log(predictions[i].measured / predictions[i].predicted));
    const Bounds bounds = conformal(std::move(logs), coverage);
    bands.push_back({predictions[last - 1].predicted, std::exp(std::min(bounds.low, 0.0)),
                     std::exp(std::max(bounds.high, 0.0))});
  }
  return bands;
}

Quality quality_of(const std::vector<Prediction>& predictions, const Fit& fit) {
  std::vector<double> apes;
  double inside = 0;
  for (const Prediction& p : predictions) {
    apes.push_back(std::abs(p.predicted / p.measured - 1));
    const Estimate e = fit.around(p.predicted, p.shape);
    inside += p.measured >= e.low && p.measured <= e.high;
  }
  Quality quality;
  quality.samples = static_cast<std::int64_t>(predictions.size());
  quality.median_ape = quantile(apes, 0.5);
  quality.p90_ape = quantile(apes, 0.9);
  quality.coverage = inside / static_cast<double>(predictions.size());
  return quality;
}

}  // namespace kvplan
