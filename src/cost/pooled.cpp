// SPDX-License-Identifier: Apache-2.0
#include "cost/pooled.h"

#include <algorithm>

namespace kvplan {
namespace {

std::optional<Seconds> least_with(std::span<const Demanded> work,
                                  std::span<const DeviceSpec* const> parts,
                                  const DeviceSpec& reference) {
  double asked = 0, offered = 0;
  for (const Demanded& d : work) {
    const auto peak = reference.peak_for(*d.format);
    if (!peak) return std::nullopt;
    asked += d.flops / peak->v;
  }
  for (const DeviceSpec* part : parts) {
    double most = 0;
    for (const Demanded& d : work) {
      const auto peak = part->peak_for(*d.format);
      if (!peak) return std::nullopt;
      most = std::max(most, *peak / *reference.peak_for(*d.format));
    }
    offered += most;
  }
  return offered > 0 ? std::optional(Seconds(asked / offered)) : std::nullopt;
}

}  // namespace

std::optional<Seconds> pooled_arithmetic(std::span<const Demanded> work,
                                         std::span<const DeviceSpec* const> parts) {
  std::optional<Seconds> best;
  for (const DeviceSpec* reference : parts) {
    const auto bound = least_with(work, parts, *reference);
    if (!bound) return std::nullopt;
    best = std::max(best.value_or(Seconds(0)), *bound);
  }
  return best;
}

}  // namespace kvplan
