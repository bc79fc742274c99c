// SPDX-License-Identifier: Apache-2.0
// Cache groups of each pipeline stage: the main layers as stage_layers divides them.
#pragma once
#include <algorithm>
#include <vector>

#include "cost/deployment.h"
#include "model/cache.h"

namespace kvplan {

// Draft layers, where asked for, go with the last stage.
std::vector<std::vector<CacheGroup>> groups_of_stages(const ModelSpec&, const Deployment&,
                                                      bool with_mtp = false);

// Of what a rank of each stage holds: the most, and all together.
template <class Stages, class Held>
Bytes fullest(const Stages& stages, Held held) {
  Bytes most;
  for (const auto& stage : stages) most = std::max(most, held(stage));
  return most;
}
template <class Stages, class Held>
Bytes over_stages(const Stages& stages, Held held) {
  Bytes sum;
  for (const auto& stage : stages) sum += held(stage);
  return sum;
}

}  // namespace kvplan
