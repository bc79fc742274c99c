// SPDX-License-Identifier: Apache-2.0
#include "cost/profile.h"

#include <algorithm>

namespace kvplan {
namespace {

template <class L, class S>
std::optional<Estimate> estimate(const Fit* fit, const S& shape) {
  const L* law = fit ? std::get_if<L>(&fit->law) : nullptr;
  if (!law) return std::nullopt;
  return fit->around(time(*law, shape));
}

// A shape's time by the fit of its class and format.
struct TimeOf {
  const Profile& profile;

  std::optional<Estimate> operator()(const GemmShape& s) const {
    const Fit* fit = profile.find(class_of(Shape(s)), *s.weights);
    return estimate<GemmLaw>(fit ? fit : profile.find(OperatorClass::gemm, *s.weights), s);
  }
  std::optional<Estimate> operator()(const DecodeAttentionShape& s) const {
    return estimate<DecodeAttentionLaw>(profile.find(OperatorClass::decode_attention, *s.key), s);
  }
  std::optional<Estimate> operator()(const PrefillAttentionShape& s) const {
    return estimate<PrefillAttentionLaw>(profile.find(OperatorClass::prefill_attention, *s.cache),
                                         s);
  }
  std::optional<Estimate> operator()(const LatentDecodeShape& s) const {
    return estimate<LatentLaw>(profile.find(OperatorClass::latent_decode, *s.latent_format), s);
  }
  std::optional<Estimate> operator()(const MoeShape& s) const {
    return estimate<MoeLaw>(profile.find(OperatorClass::moe, *s.weights), s);
  }
  // Engines pick the quickest library for a message.
  std::optional<Estimate> operator()(const CollectiveShape& s) const {
    std::optional<Estimate> best;
    for (const Fit& fit : profile.fits) {
      if (fit.op != OperatorClass::collective || !fit.variant.starts_with(name_of(s.kind)))
        continue;
      const auto found = estimate<CollectiveLaw>(&fit, s);
      if (found && (!best || found->value < best->value)) best = found;
    }
    return best;
  }
};

}  // namespace

Estimate operator+(const Estimate& a, const Estimate& b) {
  return {a.value + b.value, a.low + b.low, a.high + b.high, std::min(a.coverage, b.coverage)};
}

Estimate operator*(double times, const Estimate& e) {
  return {times * e.value, times * e.low, times * e.high, e.coverage};
}

Estimate Fit::around(Seconds predicted) const {
  for (const Band& band : bands)
    if (predicted <= band.up_to || &band == &bands.back())
      return {predicted, predicted * band.low, predicted * band.high, nominal};
  return {predicted, predicted, predicted, 0};
}

const Fit* Profile::find(OperatorClass op, const Format& format) const {
  const Fit* alike = nullptr;
  for (const Fit& fit : fits) {
    if (fit.op != op) continue;
    if (fit.format == format.name) return &fit;
    // Experts with one scale a tensor and with one a block run different kernels: up to six times
    // apart where they were measured side by side.
    if (op == OperatorClass::moe) continue;
    const Format* known = find_format(fit.format);
    if (!alike && known && known->bits == format.bits) alike = &fit;
  }
  return alike;
}

std::optional<Estimate> Profile::time(const Shape& shape) const {
  return std::visit(TimeOf{*this}, shape);
}

}  // namespace kvplan
