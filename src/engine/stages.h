// SPDX-License-Identifier: Apache-2.0
// Cache groups of each pipeline stage: the main layers as stage_layers divides them.
#pragma once
#include <vector>

#include "cost/deployment.h"
#include "model/cache.h"

namespace kvplan {

// Draft layers, where asked for, go with the last stage.
std::vector<std::vector<CacheGroup>> groups_of_stages(const ModelSpec&, const Deployment&,
                                                      bool with_mtp = false);

}  // namespace kvplan
