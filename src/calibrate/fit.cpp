// SPDX-License-Identifier: Apache-2.0
#include "calibrate/fit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "calibrate/least_squares.h"
#include "calibrate/start.h"
#include "calibrate/statistics.h"

namespace kvplan {
namespace {

constexpr double kScale = 0.05;  // residuals beyond 5 % count less and less
constexpr double kPull = 0.02;   // per unit of a constant's logarithm
constexpr std::size_t kMostRows = 2500, kLeastRows = 8;
constexpr int kSteps = 80, kStepsAgain = 12, kFolds = 3;
constexpr std::size_t kBands = 3;

struct Key {
  std::string op, format, variant;
  friend auto operator<=>(const Key&, const Key&) = default;
};

std::vector<Key> keys_of(const Measured& row) {
  struct Visitor {
    std::vector<Key> operator()(const GemmShape& s) const {
      std::vector<Key> keys{{"gemm", std::string(s.weights->name), {}}};
      if (class_of(s) != "gemm") keys.push_back({std::string(class_of(s)), keys[0].format, {}});
      return keys;
    }
    std::vector<Key> operator()(const DecodeAttentionShape& s) const {
      return {{"decode_attention", std::string(s.key->name), {}}};
    }
    std::vector<Key> operator()(const PrefillAttentionShape& s) const {
      return {{"prefill_attention", std::string(s.cache->name), {}}};
    }
    std::vector<Key> operator()(const LatentDecodeShape& s) const {
      return {{"latent_decode", std::string(s.latent_format->name), {}}};
    }
    std::vector<Key> operator()(const MoeShape& s) const {
      return {{"moe", std::string(s.weights->name), {}}};
    }
    std::vector<Key> operator()(const CollectiveShape&) const { return {{"collective", "", {}}}; }
  };
  std::vector<Key> keys = std::visit(Visitor{}, row.shape);
  for (Key& key : keys) key.variant = row.variant;
  return keys;
}

std::vector<std::int64_t> axes_of(const Shape& shape) {
  struct Visitor {
    std::vector<std::int64_t> operator()(const GemmShape& s) const { return {s.m, s.n, s.k}; }
    std::vector<std::int64_t> operator()(const DecodeAttentionShape& s) const {
      return {s.batch, s.heads, s.kv_heads, s.context};
    }
    std::vector<std::int64_t> operator()(const PrefillAttentionShape& s) const {
      return {s.batch, s.heads, s.kv_heads, s.queries};
    }
    std::vector<std::int64_t> operator()(const LatentDecodeShape& s) const {
      return {s.batch, s.heads, s.context};
    }
    std::vector<std::int64_t> operator()(const MoeShape& s) const {
      return {s.tokens, s.hidden, s.inner, s.experts};
    }
    std::vector<std::int64_t> operator()(const CollectiveShape& s) const {
      return {s.ranks, s.bytes.n};
    }
  };
  return std::visit(Visitor{}, shape);
}

using Rows = std::vector<const Measured*>;

std::uint64_t hashed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

Rows thinned(const Rows& rows, std::uint64_t seed) {
  if (rows.size() <= kMostRows) return rows;
  Rows some;
  const std::uint64_t limit = UINT64_MAX / rows.size() * kMostRows;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (hashed(seed ^ hashed(i)) < limit) some.push_back(rows[i]);
  return some;
}

template <class L>
using ShapeOf = typename StartOf<L>::Shape;

template <class L>
Seconds predicted(const L& law, const Measured& row, Caches caches) {
  return time(law, std::get<ShapeOf<L>>(row.shape), caches);
}

// Fits the constants' logarithms from a given start.
template <class L>
Minimum fit_from(const L& start, const Rows& rows, Caches caches, int steps, L& law) {
  std::vector<double> x;
  Box box;
  L::each(start, [&](const char*, double value, double low, double high) {
    x.push_back(std::log(std::clamp(value, low, high)));
    box.low.push_back(std::log(low));
    box.high.push_back(std::log(high));
  });
  const auto assign = [](L& to, const std::vector<double>& from) {
    std::size_t i = 0;
    L::each(to, [&](const char*, double& value, double, double) { value = std::exp(from[i++]); });
  };
  L trial = start;
  const Residuals residuals = [&](const std::vector<double>& at, std::vector<double>& out) {
    assign(trial, at);
    out.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i)
      out[i] = std::log(predicted(trial, *rows[i], caches) / rows[i]->time);
  };
  Minimum minimum = minimise(residuals, x, box, kScale, kPull, steps);
  law = start;
  assign(law, minimum.at);
  return minimum;
}

template <class L>
L fit_law(const Rows& rows, const FitOptions& options) {
  const Rows some = thinned(rows, options.seed);
  std::optional<Minimum> best;
  L result;
  for (const L& start : StartOf<L>::of(some)) {
    L law;
    Minimum minimum = fit_from(start, some, options.caches, kSteps, law);
    if (best && best->cost <= minimum.cost) continue;
    best = std::move(minimum);
    result = law;
  }
  return result;
}

struct Residual {
  Seconds predicted;
  double log_ratio;  // log(measured / predicted)
  double ape;
};

Residual residual(Seconds prediction, Seconds measured) {
  return {prediction, std::log(measured / prediction), std::abs(prediction / measured - 1)};
}

// For every axis, every third of its values in turn is left out of the fit and predicted.
template <class L>
std::vector<Residual> left_out(const L& law, const Rows& all, const FitOptions& options) {
  const Rows rows = thinned(all, options.seed + 1);
  std::vector<Residual> residuals;
  const std::size_t axes = axes_of(rows.front()->shape).size();
  for (std::size_t axis = 0; axis < axes; ++axis) {
    std::set<std::int64_t> values;
    for (const Measured* row : rows) values.insert(axes_of(row->shape)[axis]);
    if (values.size() < 3) continue;
    std::vector<std::int64_t> order(values.begin(), values.end());
    std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
      const auto key = [&](std::int64_t v) {
        return hashed(options.seed ^ hashed(static_cast<std::uint64_t>(v)));
      };
      return key(a) < key(b);
    });
    std::map<std::int64_t, std::size_t> fold_of;
    for (std::size_t i = 0; i < order.size(); ++i) fold_of[order[i]] = i % kFolds;
    for (std::size_t fold = 0; fold < kFolds; ++fold) {
      Rows kept, out;
      for (const Measured* row : rows)
        (fold_of[axes_of(row->shape)[axis]] == fold ? out : kept).push_back(row);
      if (kept.size() < kLeastRows / 2 || out.empty()) continue;
      L partial;
      fit_from(law, kept, options.caches, kStepsAgain, partial);
      for (const Measured* row : out)
        residuals.push_back(residual(predicted(partial, *row, options.caches), row->time));
    }
  }
  return residuals;
}

std::vector<Band> bands_of(std::vector<Residual> residuals, double coverage) {
  std::sort(residuals.begin(), residuals.end(),
            [](const Residual& a, const Residual& b) { return a.predicted < b.predicted; });
  const std::size_t count = residuals.size() >= 60 ? kBands : 1;
  std::vector<Band> bands;
  for (std::size_t b = 0; b < count; ++b) {
    const std::size_t first = residuals.size() * b / count,
                      last = residuals.size() * (b + 1) / count;
    std::vector<double> logs;
    for (std::size_t i = first; i < last; ++i) logs.push_back(residuals[i].log_ratio);
    const Bounds bounds = conformal(std::move(logs), coverage);
    bands.push_back({residuals[last - 1].predicted, std::exp(std::min(bounds.low, 0.0)),
                     std::exp(std::max(bounds.high, 0.0))});
  }
  return bands;
}

Quality quality_of(const std::vector<Residual>& residuals, const LawFit& fit) {
  Quality quality;
  quality.samples = residuals.size();
  if (residuals.empty()) return quality;
  std::vector<double> apes;
  double inside = 0;
  for (const Residual& r : residuals) {
    apes.push_back(r.ape);
    const Estimate e = with_band(fit, r.predicted);
    const Seconds measured = r.predicted * std::exp(r.log_ratio);
    inside += measured >= e.low && measured <= e.high;
  }
  quality.median_ape = quantile(apes, 0.5);
  quality.p90_ape = quantile(apes, 0.9);
  quality.coverage = inside / static_cast<double>(residuals.size());
  return quality;
}

template <class L>
LawFit fit_class(const Key& key, const Rows& rows, const FitOptions& options) {
  LawFit fit;
  fit.op = key.op;
  fit.format = key.format;
  fit.variant = key.variant;
  fit.samples = rows.size();
  fit.nominal = options.coverage;
  const L law = fit_law<L>(rows, options);
  fit.law = law;
  std::vector<Residual> residuals = left_out(law, rows, options);
  if (residuals.empty())
    for (const Measured* row : rows)
      residuals.push_back(residual(predicted(law, *row, options.caches), row->time));
  fit.bands = bands_of(residuals, options.coverage);
  fit.left_out = quality_of(residuals, fit);
  return fit;
}

LawFit fit_key(const Key& key, const Rows& rows, const FitOptions& options) {
  if (key.op == "decode_attention") return fit_class<DecodeAttentionLaw>(key, rows, options);
  if (key.op == "prefill_attention") return fit_class<PrefillAttentionLaw>(key, rows, options);
  if (key.op == "latent_decode") return fit_class<LatentLaw>(key, rows, options);
  if (key.op == "moe") return fit_class<MoeLaw>(key, rows, options);
  if (key.op == "collective") return fit_class<CollectiveLaw>(key, rows, options);
  return fit_class<GemmLaw>(key, rows, options);
}

std::map<Key, Rows> grouped(const std::vector<Measured>& measured) {
  std::map<Key, Rows> groups;
  for (const Measured& row : measured)
    for (const Key& key : keys_of(row)) groups[key].push_back(&row);
  return groups;
}

}  // namespace

std::vector<LawFit> fit_all(const std::vector<Measured>& measured, const FitOptions& options) {
  std::vector<LawFit> fits;
  for (const auto& [key, rows] : grouped(measured))
    if (rows.size() >= kLeastRows) fits.push_back(fit_key(key, rows, options));
  return fits;
}

void judge(std::vector<LawFit>& fits, const std::vector<Measured>& measured, Caches caches) {
  const std::map<Key, Rows> groups = grouped(measured);
  for (LawFit& fit : fits) {
    const auto rows = groups.find({fit.op, fit.format, fit.variant});
    if (rows == groups.end()) continue;
    std::vector<Residual> residuals;
    std::visit(
        [&](const auto& law) {
          for (const Measured* row : rows->second)
            residuals.push_back(residual(predicted(law, *row, caches), row->time));
        },
        fit.law);
    fit.holdout = quality_of(residuals, fit);
  }
}

}  // namespace kvplan
