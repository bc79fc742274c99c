// SPDX-License-Identifier: Apache-2.0
// Bytes of one device's layers: caches by cell, states by sequence, weights.
#pragma once
#include <utility>
#include <vector>

#include "cost/deployment.h"
#include "cost/machine.h"
#include "engine/llamacpp/serving.h"

namespace kvplan::llamacpp {

struct Device {
  Bytes per_cell;  // layers that look at everything
  std::vector<std::pair<Tokens, Bytes>> per_window_cell;
  std::vector<std::pair<std::int64_t, Bytes>> per_entry;  // layers with an entry per so many tokens
  Bytes per_state;                                        // all recurrent layers, one row
  Bytes weights;
};

// As a GGUF file stores it: vectors, filters and routers in 32 bits whatever the file's type.
Bytes held(const Weight&);

// Of each part of the assignment.
std::vector<Device> parts_of(const ModelSpec&, const CacheFormats&, const Serving&,
                             const Assignment&);
// Of equal GPUs: layers are dealt out evenly in order, the output counts as one more. The token
// table stays in host memory.
std::vector<Device> devices_of(const ModelSpec&, const CacheFormats&, const Serving&,
                               std::int64_t devices);
// Of these, the ones whose caches can be the largest: no other has at least as much of everything.
std::vector<Device> not_outdone(const std::vector<Device>&);
// Weights where the host computes everything: a tied table is there once.
Bytes held_by_host(const ModelSpec&, const CacheFormats&, const Serving&);

Bytes cache_bytes(const Device&, const Serving&, const Cells&);

}  // namespace kvplan::llamacpp
