// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit.h"

#include <algorithm>
#include <cmath>

#include "calibrate/correct.h"
#include "calibrate/least_squares.h"
#include "calibrate/left_out.h"
#include "calibrate/start.h"
#include "calibrate/unseen.h"

namespace kvplan {
namespace {

constexpr double kScale = 0.05;  // residuals beyond 5 % count less and less
constexpr double kPull = 0.02;   // per unit of a constant's logarithm
constexpr std::size_t kMostRows = 2500;
// Of the shortest products of a table, those that memory could have served in this share of their
// time are launches more than anything else; no fixed cost undercuts so much of them.
constexpr double kMemoryShare = 0.1, kLaunchShare = 0.6;
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

// What no datasheet lets a law claim.
struct Limits {
  std::optional<BytesPerSecond> bandwidth;
  std::optional<FlopsPerSecond> rate;
  Seconds launch;  // that no fixed cost undercuts

  double least(std::string_view constant, double low) const {
    return constant == "floor_seconds" ? std::max(low, launch.v) : low;
  }
  double of(std::string_view constant) const {
    if (bandwidth && constant == "bytes_per_second") return bandwidth->v;
    if (rate && constant == "flops_per_second") return rate->v;
    return INFINITY;
  }
};

Limits limits_of(const Class& c, const std::optional<DeviceSpec>& datasheet) {
  Limits limits;
  if (!datasheet || c.op == OperatorClass::collective) return limits;
  limits.bandwidth = datasheet->bandwidth.value;
  if (const Format* format = find_format(c.format)) limits.rate = datasheet->peak_for(*format);
  return limits;
}

// Without it a table that lacks the shortest products may be fitted without any fixed cost. Where
// launches were measured apart, or small products left out, nothing is known.
Seconds launch_in(const MeasuredRows& rows, Caches caches, const Limits& limits) {
  const auto shortest = std::min_element(rows.begin(), rows.end(),
                                         [](auto* a, auto* b) { return a->time < b->time; });
  const auto* product = std::get_if<GemmShape>(&(*shortest)->shape);
  if (!product || caches == Caches::cold || !limits.bandwidth) return Seconds(0);
  const Seconds time = (*shortest)->time;
  const bool launched = work_of(*product).distinct / *limits.bandwidth < time * kMemoryShare;
  return launched ? time * kLaunchShare : Seconds(0);
}

template <class L>
struct Solution {
  L law;
  double cost = 0;
};

// Fits the logarithms of the constants, from a given start.
template <class L>
Solution<L> fit_from(const L& start, const MeasuredRows& rows, Caches caches, const Limits& limits,
                     Loss loss, int steps) {
  std::vector<double> x;
  Box box;
  L::each(start, [&](std::string_view name, double value, double low, double high) {
    high = std::min(high, limits.of(name));
    low = limits.least(name, low);
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
  const Minimum minimum = minimise(residuals, x, box, {loss, kScale, kPull, steps});
  assign(trial, minimum.at);
  return {trial, minimum.cost};
}

// Libraries pick poor kernels for some products of few rows: Cauchy's loss hardly heeds them. Where
// times scatter about a law it would lead below their middle.
Loss final_loss(const MeasuredRows& rows) {
  const auto few = [](const Measured* r) {
    return class_of(r->shape) == OperatorClass::weight_stream;
  };
  return std::all_of(rows.begin(), rows.end(), few) ? Loss::cauchy : Loss::soft_l1;
}

template <class L>
L best_law(const MeasuredRows& rows, Caches caches, const Limits& limits) {
  std::optional<Solution<L>> best;
  for (const L& start : StartOf<L>::of(rows)) {
    const Solution<L> found = fit_from(start, rows, caches, limits, Loss::soft_l1, kSteps);
    if (!best || found.cost < best->cost) best = found;
  }
  if (final_loss(rows) == Loss::soft_l1) return best.value().law;
  return fit_from(best.value().law, rows, caches, limits, Loss::cauchy, kSteps).law;
}

// What the law leaves of products is smooth enough in their shape to help with others.
template <class L>
std::optional<Correction> correction_for(const L& law, const MeasuredRows& rows, Caches caches) {
  if constexpr (std::is_same_v<L, GemmLaw>) {
    std::vector<Residual> residuals;
    for (const Measured* row : rows)
      residuals.push_back(
          {std::get<GemmShape>(row->shape), std::log(row->time / predicted(law, *row, caches))});
    return correction_of(residuals);
  }
  return std::nullopt;
}

template <class L>
Fit fit_class(const Class& c, const MeasuredRows& rows, const FitOptions& options) {
  const Caches caches = options.caches;
  Limits limits = limits_of(c, options.datasheet);
  limits.launch = launch_in(rows, caches, limits);
  Fit fit;
  fit.op = c.op;
  fit.format = c.format;
  fit.variant = c.variant;
  fit.samples = static_cast<std::int64_t>(rows.size());
  fit.nominal = options.coverage;
  const L law = best_law<L>(thinned(rows, kMostRows, options.seed), caches, limits);
  fit.law = law;
  fit.correction = correction_for(law, rows, caches);
  const Refit refit = [&](const MeasuredRows& kept) {
    const MeasuredRows some = thinned(kept, kMostRows, options.seed + 1);
    const L partial = fit_from(law, some, caches, limits, final_loss(some), kStepsAgain).law;
    Fit again = fit;
    again.law = partial;
    again.correction = correction_for(partial, kept, caches);
    return again;
  };
  const Unseen left = unseen(rows, refit, caches, options.seed);
  fit.left_out = quality_of(left, fit);
  // Too few values for that: the rows themselves, which flatters.
  fit.bands = left.folds.empty() ? bands_of(predictions_of(fit, rows, caches), options.coverage)
                                 : bands_of(left.all(), left.level(options.coverage));
  // Laws of attention hold beyond what was measured: wider intervals held too much there.
  if constexpr (std::is_same_v<L, GemmLaw>) fit.edges = edges_of(rows, refit, fit, caches);
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
    case OperatorClass::state_step:
    case OperatorClass::state_scan:
      return fit_class<RecurrenceLaw>(c, rows, options);
    case OperatorClass::sparse_step:
    case OperatorClass::sparse_scan:
      return fit_class<SparseLatentLaw>(c, rows, options);
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
    fit.holdout = quality_of(predictions_of(fit, rows->second, caches), fit);
  }
}

}  // namespace kvplan
