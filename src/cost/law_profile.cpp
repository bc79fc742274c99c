// SPDX-License-Identifier: Apache-2.0
#include "cost/law_profile.h"

#include <algorithm>
#include <array>

namespace kvplan {
namespace {

template <class L, class Shape>
std::optional<Estimate> estimate(const LawFit* fit, const Shape& shape) {
  if (!fit) return std::nullopt;
  const auto* law = std::get_if<L>(&fit->law);
  if (!law) return std::nullopt;
  return with_band(*fit, time(*law, shape));
}

// Laws fitted on the A100 (SXM, 80 GB) and scaled to the H100 by datasheet ratios, against the
// H100's own measurements (both of ai-dynamo/aiconfigurator, vLLM kernels, bf16): 10 % and 90 %
// quantiles of measured / predicted. A newer part's kernels have lower fixed costs, hence the skew.
struct Transfer {
  std::string_view op;
  double low, high;
};
constexpr std::array kTransfers = {
    Transfer{"decode_attention", 0.54, 0.94},
    Transfer{"prefill_attention", 0.70, 1.30},
    Transfer{"gemm", 0.61, 1.01},
    Transfer{"weight_stream", 0.72, 1.32},
};
// Of classes that were measured on one of the two only: the outermost of the others.
constexpr Transfer kUnmeasured{"", 0.54, 1.32};

const Transfer& transfer_of(std::string_view op) {
  const auto found = std::find_if(kTransfers.begin(), kTransfers.end(),
                                  [&](const Transfer& t) { return t.op == op; });
  return found == kTransfers.end() ? kUnmeasured : *found;
}

struct Ratios {
  double bandwidth = 1, rate = 1, cache = 1;
};

template <class L>
void scale(L& law, const Ratios& ratios) {
  if constexpr (requires { law.bandwidth; }) law.bandwidth = law.bandwidth * ratios.bandwidth;
  if constexpr (requires { law.write; }) law.write = law.write * ratios.bandwidth;
  if constexpr (requires { law.shuffle; }) law.shuffle = law.shuffle * ratios.bandwidth;
  if constexpr (requires { law.rate; }) law.rate = law.rate * ratios.rate;
  if constexpr (requires { law.cache; }) law.cache = law.cache * ratios.cache;
}

Ratios ratios_for(const LawFit& fit, const DeviceSpec& from, const DeviceSpec& to) {
  Ratios ratios;
  if (from.bandwidth.value.v > 0 && to.bandwidth.value.v > 0)
    ratios.bandwidth = to.bandwidth.value / from.bandwidth.value;
  if (const Format* format = find_format(fit.format)) {
    const auto before = from.peak_for(*format), after = to.peak_for(*format);
    if (before && after) ratios.rate = *after / *before;
  }
  if (from.last_level_cache && to.last_level_cache)
    ratios.cache = to.last_level_cache->value.real() / from.last_level_cache->value.real();
  return ratios;
}

}  // namespace

const LawFit* LawProfile::find(std::string_view op, const Format& format,
                               std::string_view variant) const {
  const LawFit* alike = nullptr;
  for (const LawFit& fit : fits) {
    if (fit.op != op || fit.variant != variant) continue;
    if (fit.format == format.name) return &fit;
    const Format* known = find_format(fit.format);
    if (!alike && known && known->bits == format.bits) alike = &fit;
  }
  return alike;
}

std::string_view class_of(const GemmShape& shape) {
  return shape.m <= 16 ? "weight_stream" : "gemm";
}

Estimate with_band(const LawFit& fit, Seconds predicted) {
  for (const Band& band : fit.bands)
    if (predicted <= band.up_to || &band == &fit.bands.back())
      return {predicted, predicted * band.low, predicted * band.high, fit.nominal};
  return {predicted, predicted, predicted, 0};
}

std::optional<Estimate> LawProfile::time(const GemmShape& s) const {
  const LawFit* fit = find(class_of(s), *s.weights);
  return estimate<GemmLaw>(fit ? fit : find("gemm", *s.weights), s);
}
std::optional<Estimate> LawProfile::time(const DecodeAttentionShape& s) const {
  return estimate<DecodeAttentionLaw>(find("decode_attention", *s.key), s);
}
std::optional<Estimate> LawProfile::time(const PrefillAttentionShape& s) const {
  return estimate<PrefillAttentionLaw>(find("prefill_attention", *s.cache), s);
}
std::optional<Estimate> LawProfile::time(const LatentDecodeShape& s) const {
  return estimate<LatentLaw>(find("latent_decode", *s.latent_format), s);
}
std::optional<Estimate> LawProfile::time(const MoeShape& s) const {
  return estimate<MoeLaw>(find("moe", *s.weights), s);
}

LawProfile transferred(const LawProfile& profile, const DeviceSpec& from, const DeviceSpec& to) {
  LawProfile result = profile;
  result.device = to.name;
  for (LawFit& fit : result.fits) {
    const Ratios ratios = ratios_for(fit, from, to);
    std::visit([&](auto& law) { scale(law, ratios); }, fit.law);
    for (Band& band : fit.bands) {
      band.low = std::min(band.low, transfer_of(fit.op).low);
      band.high = std::max(band.high, transfer_of(fit.op).high);
    }
  }
  return result;
}

}  // namespace kvplan
