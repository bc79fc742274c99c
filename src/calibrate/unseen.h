// SPDX-License-Identifier: Apache-2.0
// What fits say of rows that they never saw: hence the intervals, and how well they keep their
// promise.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "calibrate/classes.h"
#include "calibrate/interval.h"
#include "calibrate/left_out.h"

namespace kvplan {

// Fits the same law to some of the rows.
using Refit = std::function<Fit(const MeasuredRows&)>;

std::vector<Prediction> predictions_of(const Fit&, const MeasuredRows&, Caches);

struct Unseen {
  std::vector<std::vector<Prediction>> folds;
  std::size_t values = 0;  // of the axis that has most

  std::vector<Prediction> without(std::size_t fold) const;
  std::vector<Prediction> all() const { return without(folds.size()); }
  // Of the quantiles, so that unseen values are covered.
  double level(double coverage) const;
};
Unseen unseen(const MeasuredRows&, const Refit&, Caches, std::uint64_t seed);

// Each fold is judged by intervals that the other folds gave. Empty with fewer than two of them.
std::optional<Quality> quality_of(const Unseen&, Fit);

// The range of every axis, and how fits without one end of it err there, beyond the bands of `fit`.
std::vector<Edge> edges_of(const MeasuredRows&, const Refit&, const Fit& fit, Caches);

}  // namespace kvplan
