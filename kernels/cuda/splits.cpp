// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/splits.h"

#include <algorithm>

#include "units.h"

namespace kvplan {
namespace {

constexpr std::int64_t kFewestTokens = 256, kMostSplits = 128;
constexpr double kGoodEnough = 0.85;

// Share of the last wave's time in which processors have work.
double filled(std::int64_t blocks, std::int64_t resident) {
  const double waves = static_cast<double>(blocks) / static_cast<double>(resident);
  return waves / static_cast<double>(ceil_div(blocks, resident));
}

}  // namespace

int splits_for(std::int64_t blocks, std::int64_t resident, std::int64_t tokens) {
  const std::int64_t most = std::clamp<std::int64_t>(tokens / kFewestTokens, 1, kMostSplits);
  double best = 0;
  for (std::int64_t s = 1; s <= most; ++s) best = std::max(best, filled(blocks * s, resident));
  std::int64_t splits = 1;
  while (filled(blocks * splits, resident) < kGoodEnough * best) ++splits;
  return static_cast<int>(splits);
}

int tokens_per_split(std::int64_t tokens, int splits, int tile) {
  return static_cast<int>(round_up(ceil_div(tokens, splits), tile));
}

}  // namespace kvplan
