// SPDX-License-Identifier: Apache-2.0
// The flags of one vLLM server with every default chosen, as its argument parser does.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/deployment.h"
#include "engine/engine.h"
#include "engine/vllm/draft.h"
#include "engine/vllm/kernels.h"
#include "engine/vllm/rules.h"

namespace kvplan::vllm {

// What a recurrent layer keeps of a sequence's past states.
enum class StateCache { none, align, all };

// Slots for LoRA adapters, each of so high a rank.
struct Adapters {
  std::int64_t slots = 0, rank = 0;
  bool sharded = false;  // fully: both matrices of each
};

// Layers whose cache stays in the model's own format beside a narrower one.
struct PlainLayers {
  bool windows = false;      // all that slide
  std::vector<int> numbers;  // of layers

  bool none() const { return !windows && numbers.empty(); }
  bool has(int layer, bool slides) const;
};

// Weights that are left to the host.
struct Offload {
  Bytes bytes;  // cpu_offload_gb: matrices from the first layer on, of each rank
  // Of every so many layers so many, the last; and buffers for the next few of them.
  std::int64_t group = 0, in_group = 0, ahead = 0;

  bool has(std::int64_t layer) const { return group > 0 && layer % group >= group - in_group; }
};

struct Serving {
  Gpu gpu = Gpu::hopper;
  Tokens max_model_len;
  std::int64_t batched_tokens = 0;  // T: tokens of one step
  std::int64_t sequences = 0;       // S
  std::int64_t batches = 1;         // steps in flight
  Draft draft;
  bool chunked = false;  // prefill in chunks of T
  bool prefix_caching = false;
  bool hybrid_groups = false;
  bool eager = false;
  bool vision = true;           // the vision tower is loaded
  bool profiles_vision = true;  // and run once with its largest images
  bool divides_vision = true;   // over tensor-parallel ranks
  StateCache state_cache = StateCache::none;
  const Format* state_format = nullptr;      // mamba_ssm_cache_dtype; null where the model decides
  const Format* conv_format = nullptr;       // mamba_cache_dtype, likewise
  std::optional<std::int64_t> state_chunk;   // tokens, where states of every block are kept
  PlainLayers plain_cache;                   // kv_cache_dtype_skip_layers
  bool drops_windows = false;                // all layers look at everything, no further than these
  std::optional<std::int64_t> block_size;    // asked for
  std::optional<std::int64_t> kernel_block;  // tokens that the attention backend asked for takes
  std::int64_t default_block = 0;            // where no kernel wants another
  Adapters adapters;
  Offload offload;
  std::int64_t spare_experts = 0;      // copies of busy experts, in each layer
  std::optional<std::int64_t> graphs;  // sizes of steps that are captured; absent: vLLM's choice
  double utilization = 0;
  std::optional<Bytes> kv_cache_memory;
  std::optional<std::int64_t> blocks;  // num_gpu_blocks_override: so many, whatever fits

  // Tokens that a window holds beside itself while they are computed.
  std::int64_t in_flight() const { return checked_mul(batched_tokens, batches); }
};

Serving serving_of(const EngineOptions&, const Rules&, const ModelSpec&, const Parallelism&);
// The same server on another device, whose default sizes may differ.
Serving on_device(Serving, const EngineOptions&, const DeviceSpec&);

}  // namespace kvplan::vllm
