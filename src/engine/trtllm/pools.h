// SPDX-License-Identifier: Apache-2.0
// One pool of blocks for each attention window; the memory is shared out by what a full window
// takes. cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp of NVIDIA/TensorRT-LLM.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/deployment.h"
#include "model/cache.h"

namespace kvplan::trtllm {

struct Serving {
  std::int64_t block = 1;             // tokens
  std::int64_t ranks = 1;             // that share the heads of one sequence
  std::vector<std::int64_t> windows;  // by layer, repeated; empty: every layer keeps all
  std::optional<std::int64_t> max_tokens;
  std::int64_t attention_dp = 1;  // ranks that hold caches of their own requests
};

struct Pool {
  std::optional<std::int64_t> window;  // tokens; absent: as many as a sequence has
  Bytes per_token;                     // all its layers, one rank
};
// Of one pipeline stage.
std::vector<Pool> pools_of(const std::vector<CacheGroup>&, const Serving&);

// Blocks of each pool; windows are cut to the longest sequence.
std::vector<std::int64_t> blocks_of(Bytes memory, const std::vector<Pool>&, const Serving&,
                                    Tokens longest);
// The least memory whose blocks hold `batch` sequences of `context` tokens.
Bytes memory_for(Tokens context, std::int64_t batch, const std::vector<Pool>&, const Serving&);

}  // namespace kvplan::trtllm
