// SPDX-License-Identifier: Apache-2.0
// Bytes of one device's layers: caches by cell, states by sequence, weights.
#pragma once
#include <utility>
#include <vector>

#include "cost/deployment.h"
#include "engine/llamacpp/serving.h"

namespace kvplan::llamacpp {

struct Device {
  Bytes per_cell;  // layers that look at everything
  std::vector<std::pair<Tokens, Bytes>> per_window_cell;
  Bytes per_state;  // all recurrent layers, one row
  Bytes weights;
};

// Layers are dealt out evenly in order, the output counts as one more (src/llama-model.cpp). The
// token table stays in host memory.
std::vector<Device> devices_of(const ModelSpec&, const CacheFormats&, const Serving&,
                               std::int64_t devices);

Bytes cache_bytes(const Device&, const Serving&, const Cells&);

}  // namespace kvplan::llamacpp
