// SPDX-License-Identifier: Apache-2.0
#include "cost/transfer.h"

#include <algorithm>
#include <array>
#include <type_traits>

namespace kvplan {
namespace {

// Laws fitted on the A100 (SXM, 80 GB) and scaled to the H100 by datasheet ratios, against the
// H100's own measurements (both of ai-dynamo/aiconfigurator, vLLM kernels, bf16): 10 % and 90 %
// quantiles of measured / predicted. A newer part's kernels have lower fixed costs, hence the skew.
struct Transfer {
  OperatorClass op;
  double low, high;
};
constexpr std::array kTransfers = {
    Transfer{OperatorClass::decode_attention, 0.54, 0.94},
    Transfer{OperatorClass::prefill_attention, 0.62, 1.14},
    Transfer{OperatorClass::gemm, 0.61, 0.99},
    Transfer{OperatorClass::weight_stream, 0.68, 0.95},
};
// Of classes that were measured on one of the two only: the outermost of the others.
constexpr Transfer kUnmeasured{OperatorClass::moe, 0.54, 1.14};

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
  if (from.last_level_cache && to.last_level_cache)
    ratios.cache = to.last_level_cache->value.real() / from.last_level_cache->value.real();
  return ratios;
}

}  // namespace

Profile transferred(const Profile& profile, const DeviceSpec& from, const DeviceSpec& to) {
  Profile result = profile;
  result.device = to.name;
  for (Fit& fit : result.fits) {
    const Ratios ratios = ratios_for(fit, from, to);
    std::visit([&](auto& law) { scale(law, ratios); }, fit.law);
    fit.correction.reset();  // another part's libraries pick other kernels
    for (Band& band : fit.bands) {
      band.low = std::min(band.low, transfer_of(fit.op).low);
      band.high = std::max(band.high, transfer_of(fit.op).high);
    }
  }
  return result;
}

}  // namespace kvplan
