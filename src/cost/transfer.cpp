// SPDX-License-Identifier: Apache-2.0
#include "cost/transfer.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace kvplan {
namespace {

// 10 % and 90 % quantiles of measured / predicted, of laws scaled by datasheet ratios to a part
// that was measured too (ai-dynamo/aiconfigurator, vLLM's kernels). Alike: of the same compute
// capability, the outermost of all formats from the H100 to the H200 and back and from the B200 to
// the GB200. Across: from the A100 to the H100 (bf16), whose kernels have lower fixed costs;
// of experts from the B200 to the H200, which run other kernels.
struct Quantiles {
  double low, high;
};
struct Transfer {
  OperatorClass op;
  Quantiles alike, across;
};
constexpr std::array kTransfers = {
    Transfer{OperatorClass::decode_attention, {0.78, 1.25}, {0.54, 0.94}},
    Transfer{OperatorClass::prefill_attention, {0.73, 1.34}, {0.62, 1.14}},
    Transfer{OperatorClass::latent_decode, {0.75, 1.31}, {0.54, 1.14}},
    Transfer{OperatorClass::gemm, {0.84, 1.35}, {0.61, 0.99}},
    Transfer{OperatorClass::weight_stream, {0.78, 1.17}, {0.68, 0.95}},
    Transfer{OperatorClass::moe, {0.64, 1.59}, {0.28, 7.45}},
};
// Of links nothing is known: the outermost of the others.
constexpr Transfer kUnmeasured{OperatorClass::collective, {0.64, 1.59}, {0.54, 1.14}};

const Transfer& transfer_of(OperatorClass op) {
  const auto found = std::find_if(kTransfers.begin(), kTransfers.end(),
                                  [&](const Transfer& t) { return t.op == op; });
  return found == kTransfers.end() ? kUnmeasured : *found;
}

struct Ratios {
  double bandwidth = 1, link = 1, rate = 1, cache = 1;
};

template <class L>
void scale(L& law, const Ratios& ratios) {
  constexpr bool kCrossesLinks = std::is_same_v<L, CollectiveLaw>;
  law.bandwidth = law.bandwidth * (kCrossesLinks ? ratios.link : ratios.bandwidth);
  if constexpr (requires { law.write; }) law.write = law.write * ratios.bandwidth;
  if constexpr (requires { law.shuffle; }) law.shuffle = law.shuffle * ratios.bandwidth;
  if constexpr (requires { law.rate; }) law.rate = law.rate * ratios.rate;
  if constexpr (requires { law.cache; }) law.cache = law.cache * ratios.cache;
}

Ratios ratios_for(const Fit& fit, const DeviceSpec& from, const DeviceSpec& to) {
  Ratios ratios;
  if (from.bandwidth.value.v > 0 && to.bandwidth.value.v > 0)
    ratios.bandwidth = to.bandwidth.value / from.bandwidth.value;
  if (from.peer && to.peer)
    ratios.link = to.peer->per_direction.value / from.peer->per_direction.value;
  if (const Format* format = find_format(fit.format)) {
    const auto before = from.peak_for(*format), after = to.peak_for(*format);
    if (before && after) ratios.rate = *after / *before;
  }
  // With few rows memory binds, and libraries take smaller tiles where arithmetic is slow (H20).
  if (fit.op == OperatorClass::weight_stream) ratios.rate = std::max(ratios.rate, ratios.bandwidth);
  if (from.last_level_cache && to.last_level_cache)
    ratios.cache = to.last_level_cache->value.real() / from.last_level_cache->value.real();
  return ratios;
}

}  // namespace

Profile transferred(const Profile& profile, const DeviceSpec& from, const DeviceSpec& to) {
  Profile result = profile;
  result.device = to.name;
  const bool alike = from.compute_capability && from.compute_capability == to.compute_capability;
  for (Fit& fit : result.fits) {
    const Ratios ratios = ratios_for(fit, from, to);
    std::visit([&](auto& law) { scale(law, ratios); }, fit.law);
    fit.correction.reset();  // another part's libraries pick other kernels
    const Quantiles& erred = alike ? transfer_of(fit.op).alike : transfer_of(fit.op).across;
    for (Band& band : fit.bands) {
      band.low = std::min(band.low, erred.low);
      band.high = std::max(band.high, erred.high);
    }
  }
  return result;
}

}  // namespace kvplan
