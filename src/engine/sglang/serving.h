// SPDX-License-Identifier: Apache-2.0
// The flags of one SGLang server with every default chosen, as its argument parser does.
#pragma once
#include <cstdint>
#include <optional>

#include "cost/deployment.h"
#include "engine/engine.h"

namespace kvplan::sglang {

struct Serving {
  std::int64_t page = 1;                 // tokens
  std::int64_t attention_dp = 1;         // groups of ranks that hold caches of their own requests
  bool shared_windows = false;           // sliding layers in the pool of the others
  double window_share = 1;               // r: window tokens per token
  double state_share = 1;                // q: memory of states per memory of tokens
  std::optional<std::int64_t> states;    // max_mamba_cache_size
  const Format* state_format = nullptr;  // mamba_ssm_dtype
  std::int64_t states_per_request = 3;   // the one in use and those of its cached prefixes
  std::int64_t draft_layers = 0;
  std::int64_t draft_tokens = 0;  // whose states are kept until they are verified
  std::int64_t requests = 0;      // with speculation: that states are kept for
  std::int64_t slots = 0;         // DeepSeek-V4: requests that rings are set aside for
  std::int64_t rings = 1;         // its compressors keep as many windows
  bool pads_states = true;        // one state more is allocated than requests may take
  std::optional<std::int64_t> max_tokens;
};
Serving serving_of(const EngineOptions&, const ModelSpec&, const Parallelism&);

// The caches that SGLang keeps for a format that was asked for.
CacheFormats formats_of(const EngineOptions&, const ModelSpec&, const CacheFormats&);

}  // namespace kvplan::sglang
