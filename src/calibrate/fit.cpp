// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit.h"

#include <algorithm>
#include <cmath>

#include "calibrate/interval.h"
#include "calibrate/least_squares.h"
#include "calibrate/left_out.h"
#include "calibrate/start.h"

namespace kvplan {
namespace {

constexpr double kScale = 0.05;  // residuals beyond 5 % count less and less
constexpr double kPull = 0.02;   // per unit of a constant's logarithm
constexpr std::size_t kMostRows = 2500, kLeastRows = 8;
constexpr int kSteps = 80, kStepsAgain = 12;

template <class L>
Seconds predicted(const L& law, const Measured& row, Caches caches) {
  return time(law, std::get<typename StartOf<L>::Shape>(row.shape), caches);
}

template <class L>
void assign(L& law, const std::vector<double>& logarithms) {
  std::size_t i = 0;
  L::each(law,
          [&](const char*, double& value, double, double) { value = std::exp(logarithms[i++]); });
}

template <class L>
struct Solution {
  L law;
  double cost = 0;
};

// Fits the logarithms of the constants, from a given start.
template <class L>
Solution<L> fit_from(const L& start, const MeasuredRows& rows, Caches caches, int steps) {
  std::vector<double> x;
  Box box;
  L::each(start, [&](const char*, double value, double low, double high) {
    x.push_back(std::log(std::clamp(value, low, high)));
    box.low.push_back(std::log(low));
    box.high.push_back(std::log(high));
  });
  L trial = start;
  const Residuals residuals = [&](const std::vector<double>& at, std::vector<double>& out) {
    assign(trial, at);
    out.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      out[i] = std::log(predicted(trial, *rows[i], caches) / rows[i]->time);
  };
  const Minimum minimum = minimise(residuals, x, box, kScale, kPull, steps);
  assign(trial, minimum.at);
  return {trial, minimum.cost};
}

template <class L>
L best_law(const MeasuredRows& rows, Caches caches) {
  std::optional<Solution<L>> best;
  for (const L& start : StartOf<L>::of(rows)) {
    const Solution<L> found = fit_from(start, rows, caches, kSteps);
    if (!best || found.cost < best->cost) best = found;
  }
  return best.value().law;
}

template <class L>
std::vector<Prediction> predictions_of(const L& law, const MeasuredRows& rows, Caches caches) {
  std::vector<Prediction> predictions;
  for (const Measured* row : rows) predictions.push_back({predicted(law, *row, caches), row->time});
  return predictions;
}

// What each fold's own fit says of the rows that it never saw.
template <class L>
std::vector<std::vector<Prediction>> unseen(const L& law, const MeasuredRows& rows,
                                            const FitOptions& options) {
  std::vector<std::vector<Prediction>> folds;
  for (const Fold& fold : folds_of(thinned(rows, kMostRows, options.seed + 1), options.seed)) {
    if (fold.kept.size() < kLeastRows / 2 || fold.out.empty()) continue;
    const L partial = fit_from(law, fold.kept, options.caches, kStepsAgain).law;
    folds.push_back(predictions_of(partial, fold.out, options.caches));
  }
  return folds;
}

std::vector<Prediction> joined(const std::vector<std::vector<Prediction>>& folds,
                               std::size_t without) {
  std::vector<Prediction> all;
  for (std::size_t i = 0; i < folds.size(); ++i)
    if (i != without) all.insert(all.end(), folds[i].begin(), folds[i].end());
  return all;
}

// Each fold is judged by intervals that the other folds gave.
std::optional<Quality> quality_of_folds(const std::vector<std::vector<Prediction>>& folds,
                                        Fit fit) {
  if (folds.size() < 2) return std::nullopt;
  double inside = 0;
  for (std::size_t i = 0; i < folds.size(); ++i) {
    fit.bands = bands_of(joined(folds, i), fit.nominal);
    inside += quality_of(folds[i], fit).coverage * static_cast<double>(folds[i].size());
  }
  Quality quality = quality_of(joined(folds, folds.size()), fit);
  quality.coverage = inside / static_cast<double>(quality.samples);
  return quality;
}

template <class L>
Fit fit_class(const Class& c, const MeasuredRows& rows, const FitOptions& options) {
  Fit fit;
  fit.op = c.op;
  fit.format = c.format;
  fit.variant = c.variant;
  fit.samples = static_cast<std::int64_t>(rows.size());
  fit.nominal = options.coverage;
  const L law = best_law<L>(thinned(rows, kMostRows, options.seed), options.caches);
  fit.law = law;
  const auto folds = unseen(law, rows, options);
  fit.left_out = quality_of_folds(folds, fit);
  // Too few values for that: the rows themselves, which flatters.
  fit.bands = bands_of(
      folds.empty() ? predictions_of(law, rows, options.caches) : joined(folds, folds.size()),
      options.coverage);
  return fit;
}

Fit fit_any(const Class& c, const MeasuredRows& rows, const FitOptions& options) {
  switch (c.op) {
    case OperatorClass::decode_attention:
      return fit_class<DecodeAttentionLaw>(c, rows, options);
    case OperatorClass::prefill_attention:
      return fit_class<PrefillAttentionLaw>(c, rows, options);
    case OperatorClass::latent_decode:
      return fit_class<LatentLaw>(c, rows, options);
    case OperatorClass::moe:
      return fit_class<MoeLaw>(c, rows, options);
    case OperatorClass::collective:
      return fit_class<CollectiveLaw>(c, rows, options);
    default:
      return fit_class<GemmLaw>(c, rows, options);
  }
}

}  // namespace

std::vector<Fit> fit_all(const std::vector<Measured>& measured, const FitOptions& options) {
  std::vector<Fit> fits;
  for (const auto& [c, rows] : by_class(measured))
    if (rows.size() >= kLeastRows) fits.push_back(fit_any(c, rows, options));
  return fits;
}

void judge(std::vector<Fit>& fits, const std::vector<Measured>& measured, Caches caches) {
  const auto groups = by_class(measured);
  for (Fit& fit : fits) {
    const auto rows = groups.find({fit.op, fit.format, fit.variant});
    if (rows == groups.end()) continue;
    const auto predictions = std::visit(
        [&](const auto& law) { return predictions_of(law, rows->second, caches); }, fit.law);
    fit.holdout = quality_of(predictions, fit);
  }
}

}  // namespace kvplan
