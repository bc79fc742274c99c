// SPDX-License-Identifier: Apache-2.0
#include "cost/device.h"

namespace kvplan {
namespace {

// Operand width that a unit needs: weights of at most so many bits can be fed to it without losing
// any.
double operand_bits(Precision precision) {
  switch (precision) {
    case Precision::fp64:
      return 64;
    case Precision::fp32:
    case Precision::tf32:
      return 32;
    case Precision::bf16:
    case Precision::fp16:
      return 16;
    case Precision::fp8:
    case Precision::int8:
      return 8;
    case Precision::fp4:
    case Precision::int4:
      return 4;
  }
  return 64;
}

}  // namespace

std::optional<FlopsPerSecond> DeviceSpec::peak_for(const Format& weights) const {
  std::optional<FlopsPerSecond> best;
  for (const Peak& peak : peaks) {
    // fp64 units are never the fast path, and k-quants of 5 or 6 bits still go through 8-bit
    // products. Weights of 32 bits are allowed tf32.
    const bool feeds = weights.bits <= operand_bits(peak.precision);
    if (feeds && (!best || *best < peak.rate.value)) best = peak.rate.value;
  }
  return best;
}

}  // namespace kvplan
