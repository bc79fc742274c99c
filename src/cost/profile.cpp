// SPDX-License-Identifier: Apache-2.0
#include "cost/profile.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "error.h"

namespace kvplan {
namespace {

std::optional<Estimate> estimate(const Fit* fit, const Shape& shape) {
  if (!fit) return std::nullopt;
  return fit->around(time(*fit, shape), shape);
}

// 10 % and 90 % quantiles of the times of KDA's kernels over what the laws of gated delta nets say,
// the outermost of H100, H200 and B200 (vLLM; ai-dynamo/aiconfigurator).
constexpr Edge::Widening kStepByAnother{0.79, 1.20}, kScanByAnother{0.70, 2.12};

// A step passes over the matrices of all of these once; prompts run as products of chunks in those
// that decay a head as a whole.
bool resembles_delta_net(const RecurrenceShape& s) {
  const bool chunked =
      s.kind == Recurrent::mamba2 || s.kind == Recurrent::lightning || s.kind == Recurrent::kda;
  return chunked || (s.kind == Recurrent::mamba1 && s.tokens == 1);
}

// A shape's time by the fit of its class and format.
struct TimeOf {
  const Profile& profile;

  // By the law of another recurrence that moves the same bytes.
  std::optional<Estimate> another(const RecurrenceShape& s, OperatorClass op) const {
    if (!resembles_delta_net(s)) return std::nullopt;
    const Fit* fit = profile.find(op, name_of(Recurrent::gated_delta_net));
    std::optional<Estimate> e = estimate(fit, s);
    if (!e) return e;
    const Edge::Widening& erred = op == OperatorClass::state_step ? kStepByAnother : kScanByAnother;
    e->low = std::min(e->low, e->value * erred.low);
    e->high = std::max(e->high, e->value * erred.high);
    return e;
  }

  std::optional<Estimate> operator()(const GemmShape& s) const {
    const Fit* fit = profile.find(class_of(Shape(s)), *s.weights);
    return estimate(fit ? fit : profile.find(OperatorClass::gemm, *s.weights), s);
  }
  std::optional<Estimate> operator()(const DecodeAttentionShape& s) const {
    return estimate(profile.find(OperatorClass::decode_attention, *s.key), s);
  }
  std::optional<Estimate> operator()(const PrefillAttentionShape& s) const {
    return estimate(profile.find(OperatorClass::prefill_attention, *s.cache), s);
  }
  std::optional<Estimate> operator()(const LatentDecodeShape& s) const {
    return estimate(profile.find(OperatorClass::latent_decode, *s.latent_format), s);
  }
  std::optional<Estimate> operator()(const MoeShape& s) const {
    return estimate(profile.find(OperatorClass::moe, *s.weights), s);
  }
  std::optional<Estimate> operator()(const RecurrenceShape& s) const {
    const OperatorClass op = class_of(Shape(s));
    if (const Fit* own = profile.find(op, name_of(s.kind))) return estimate(own, s);
    return another(s, op);
  }
  std::optional<Estimate> operator()(const SparseLatentShape& s) const {
    return estimate(profile.find(class_of(Shape(s)), cache_of(s), s.weights), s);
  }
  // Engines pick the quickest library for a message.
  std::optional<Estimate> operator()(const CollectiveShape& s) const {
    std::optional<Estimate> best;
    for (const Fit& fit : profile.fits) {
      if (fit.op != OperatorClass::collective || !fit.variant.starts_with(name_of(s.kind)))
        continue;
      const auto found = estimate(&fit, s);
      if (found && (!best || found->value < best->value)) best = found;
    }
    return best;
  }
};

// Of all axes together.
Edge::Widening widening(const std::vector<Edge>& edges, const Shape& shape) {
  Edge::Widening all;
  if (edges.empty()) return all;
  const AxisValues axes = axes_of(shape);
  for (std::size_t a = 0; a < std::min(axes.size(), edges.size()); ++a) {
    const Edge& edge = edges[a];
    if (axes[a] >= edge.least && axes[a] <= edge.most) continue;
    const bool below = axes[a] < edge.least;
    const double octaves = std::abs(std::log2(static_cast<double>(axes[a]) /
                                              static_cast<double>(below ? edge.least : edge.most)));
    const Edge::Widening& side = below ? edge.below : edge.above;
    all.low *= std::pow(side.low, octaves);
    all.high *= std::pow(side.high, octaves);
  }
  return all;
}

// Below 8 bits some weights are multiplied as they are (nvfp4), others as 16 bits (int4).
bool run_alike(const Format& a, const Format& b) {
  return a.bits == b.bits && (a.bits >= 8 || a.precision == b.precision);
}

// How far two formats that run alike lie apart: whether scales stand among the numbers, then bytes.
std::pair<bool, double> distance(const Format& a, const Format& b) {
  const auto scaled_inside = [](const Format& f) {
    return f.block_bytes * 8 > f.bits * f.block_elements;
  };
  const auto bytes = [](const Format& f) {
    return static_cast<double>(f.block_bytes) / f.block_elements;
  };
  return {scaled_inside(a) != scaled_inside(b), std::abs(bytes(a) - bytes(b))};
}

}  // namespace

Seconds time(const Fit& fit, const Shape& any, Caches caches) {
  return std::visit(
      [&](const auto& law, const auto& shape) -> Seconds {
        if constexpr (requires { time(law, shape, caches); }) {
          const Seconds by_law = time(law, shape, caches);
          if constexpr (std::is_same_v<std::decay_t<decltype(shape)>, GemmShape>)
            if (fit.correction) return by_law * fit.correction->of(shape);
          return by_law;
        } else {
          throw Error("the law is of another operator");
        }
      },
      fit.law, any);
}

Estimate operator+(const Estimate& a, const Estimate& b) {
  return {a.value + b.value, a.low + b.low, a.high + b.high, std::min(a.coverage, b.coverage)};
}

Estimate operator*(double times, const Estimate& e) {
  return {times * e.value, times * e.low, times * e.high, e.coverage};
}

Estimate Fit::around(Seconds predicted, const Shape& shape) const {
  if (bands.empty()) return {predicted, predicted, predicted, 0};
  const auto band = std::find_if(bands.begin(), bands.end() - 1,
                                 [&](const Band& b) { return predicted <= b.up_to; });
  const Edge::Widening wider = widening(edges, shape);
  return {predicted, predicted * (band->low * wider.low), predicted * (band->high * wider.high),
          nominal};
}

const Fit* Profile::find(OperatorClass op, const Format& format) const {
  const Fit* alike = nullptr;
  std::optional<std::pair<bool, double>> nearest;
  for (const Fit& fit : fits) {
    if (fit.op != op) continue;
    if (fit.format == format.name) return &fit;
    // Experts with one scale a tensor and with one a block run different kernels: up to six times
    // apart where they were measured side by side.
    if (op == OperatorClass::moe) continue;
    const Format* known = find_format(fit.format);
    if (!known || !run_alike(*known, format)) continue;
    const auto apart = distance(*known, format);
    if (nearest && apart >= *nearest) continue;
    nearest = apart;
    alike = &fit;
  }
  return alike;
}

const Fit* Profile::find(OperatorClass op, std::string_view variant, const Format* format) const {
  const auto found = std::find_if(fits.begin(), fits.end(), [&](const Fit& fit) {
    return fit.op == op && fit.variant == variant && (!format || fit.format == format->name);
  });
  return found == fits.end() ? nullptr : &*found;
}

std::optional<Estimate> Profile::time(const Shape& shape) const {
  return std::visit(TimeOf{*this}, shape);
}

}  // namespace kvplan
