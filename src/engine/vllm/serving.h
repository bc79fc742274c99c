// SPDX-License-Identifier: Apache-2.0
// The flags of one vLLM server with every default chosen, as its argument parser does.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

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
  const Format* state_format = nullptr;    // mamba_ssm_cache_dtype; null where the model decides
  std::optional<std::int64_t> block_size;  // asked for
  std::int64_t default_block = 0;          // where no kernel wants another
  Adapters adapters;
  double utilization = 0;
  std::optional<Bytes> kv_cache_memory;

  // Tokens that a window holds beside itself while they are computed.
  std::int64_t in_flight() const { return checked_mul(batched_tokens, batches); }
};

Serving serving_of(const EngineOptions&, const Rules&, const ModelSpec&, const Parallelism&);
// The same server on another device, whose default sizes may differ.
Serving on_device(Serving, const EngineOptions&, const DeviceSpec&);

}  // namespace kvplan::vllm
