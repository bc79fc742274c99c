// SPDX-License-Identifier: Apache-2.0
// Which part of a machine llama.cpp gives each tensor and cache: load_tensors of
// src/llama-model.cpp, tensor overrides of common/arg.cpp (ggml-org/llama.cpp#11397, #15077).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/machine.h"
#include "engine/engine.h"

namespace kvplan::llamacpp {

// One PATTERN=BUFFER of --override-tensor: where tensors go whose name the pattern is found in.
struct Override {
  std::string pattern;
  std::optional<std::size_t> gpu;  // absent: the host
};

struct Split {
  std::int64_t gpu_layers = 0;      // -ngl: the last so many, of which the output counts as one
  std::int64_t cpu_moe = 0;         // --n-cpu-moe: routed experts of the first so many layers
  std::vector<Override> overrides;  // -ot; the first that matches holds
  bool cache_on_host = false;       // -nkvo
  std::vector<double> shares;       // -ts: of the layers on GPUs, in order; empty: equal ones
  bool output_first = true;         // the output goes to a GPU before any layer
};

// The settings that say how a model is split.
bool splits(const EngineOptions&);

// What the user's settings say of it; what they leave open is absent.
struct AskedSplit {
  std::optional<std::int64_t> gpu_layers, cpu_moe;
  std::vector<Override> overrides;
  std::optional<bool> cache_on_host;
  std::optional<std::vector<double>> shares;
  bool output_first = true;
  bool copies_to_gpu = true;  // --no-op-offload: the host multiplies what it holds
  bool copies_used_experts = true;
};
// Throws Error for values that do not fit the model or the number of GPUs.
// ollama says no more than how many layers.
AskedSplit asked_split(const EngineOptions&, const ModelSpec&, std::size_t gpus);

// Main layers and the output: what -ngl counts.
std::int64_t countable_layers(const ModelSpec&);

// How many of the countable layers each GPU runs.
std::vector<std::int64_t> layers_by_gpu(const Split&, std::int64_t countable, std::size_t gpus);

// Parts are the GPUs in order, then the host. Draft layers are loaded where asked for.
Assignment assignment_of(const ModelSpec&, const Split&, std::size_t gpus, bool with_mtp = false);

}  // namespace kvplan::llamacpp
