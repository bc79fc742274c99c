// SPDX-License-Identifier: Apache-2.0
#include "calibrate/unseen.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "calibrate/fit.h"
#include "calibrate/statistics.h"

namespace kvplan {
namespace {

// Rows that share a value err alike: what is exchangeable is the values of an axis, not rows, so
// the n + 1 of the conformal quantile counts them (Dunn, Wasserman, Ramdas 2022).
double level_for(double coverage, std::size_t values) {
  return std::min(0.98, coverage * (1 + 1 / static_cast<double>(values)));
}

// How much wider an interval must be, per octave, to hold its share of these rows.
Edge::Widening widening_for(const std::vector<Prediction>& beyond, std::size_t axis,
                            std::int64_t border, const Fit& fit) {
  std::vector<double> lower, higher;
  std::set<std::int64_t> values;
  for (const Prediction& p : beyond) {
    const std::int64_t value = axes_of(p.shape)[axis];
    values.insert(value);
    const double octaves =
        std::abs(std::log2(static_cast<double>(value) / static_cast<double>(border)));
    const Estimate e = fit.around(p.predicted, p.shape);
    lower.push_back(std::min(std::log(p.measured / e.low) / octaves, 0.0));
    higher.push_back(std::max(std::log(p.measured / e.high) / octaves, 0.0));
  }
  const double tail = (1 - level_for(fit.nominal, values.size())) / 2;
  return {std::exp(quantile(std::move(lower), tail)),
          std::exp(quantile(std::move(higher), 1 - tail))};
}

}  // namespace

std::vector<Prediction> predictions_of(const Fit& fit, const MeasuredRows& rows, Caches caches) {
  std::vector<Prediction> predictions;
  predictions.reserve(rows.size());
  for (const Measured* row : rows)
    predictions.push_back({time(fit, row->shape, caches), row->time, row->shape});
  return predictions;
}

std::vector<Prediction> Unseen::without(std::size_t fold) const {
  std::vector<Prediction> all;
  for (std::size_t i = 0; i < folds.size(); ++i)
    if (i != fold) all.insert(all.end(), folds[i].begin(), folds[i].end());
  return all;
}

double Unseen::level(double coverage) const { return level_for(coverage, values); }

Unseen unseen(const MeasuredRows& rows, const Refit& refit, Caches caches, std::uint64_t seed) {
  Unseen found;
  for (const Fold& fold : folds_of(rows, seed)) {
    if (fold.kept.size() < kLeastRows / 2 || fold.out.empty()) continue;
    found.folds.push_back(predictions_of(refit(fold.kept), fold.out, caches));
    found.values = std::max(found.values, fold.values);
  }
  return found;
}

std::optional<Quality> quality_of(const Unseen& unseen, Fit fit) {
  if (unseen.folds.size() < 2) return std::nullopt;
  double inside = 0;
  for (std::size_t i = 0; i < unseen.folds.size(); ++i) {
    const auto& fold = unseen.folds[i];
    fit.bands = bands_of(unseen.without(i), unseen.level(fit.nominal));
    inside += quality_of(fold, fit).coverage * static_cast<double>(fold.size());
  }
  Quality quality = quality_of(unseen.all(), fit);
  quality.coverage = inside / static_cast<double>(quality.samples);
  return quality;
}

std::vector<Edge> edges_of(const MeasuredRows& rows, const Refit& refit, const Fit& fit,
                           Caches caches) {
  std::vector<Edge> edges;
  for (std::size_t axis = 0; axis < axes_of(rows.front()->shape).size(); ++axis) {
    Edge edge;
    const auto [least, most] =
        std::minmax_element(rows.begin(), rows.end(), [&](const Measured* a, const Measured* b) {
          return axes_of(a->shape)[axis] < axes_of(b->shape)[axis];
        });
    edge.least = axes_of((*least)->shape)[axis];
    edge.most = axes_of((*most)->shape)[axis];
    for (const bool top : {false, true}) {
      const auto end = end_of(rows, axis, top);
      if (!end || end->fold.kept.size() < kLeastRows / 2) continue;
      (top ? edge.above : edge.below) = widening_for(
          predictions_of(refit(end->fold.kept), end->fold.out, caches), axis, end->border, fit);
    }
    edges.push_back(edge);
  }
  return edges;
}

}  // namespace kvplan
