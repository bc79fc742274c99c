// SPDX-License-Identifier: Apache-2.0
// What one rank stores per token, per window token and per request, and how many of each a pool
// holds. python/sglang/srt/mem_cache/memory_pool.py of sgl-project/sglang.
#pragma once
#include <optional>
#include <vector>

#include "engine/sglang/serving.h"
#include "model/cache.h"

namespace kvplan::sglang {

struct Rank {
  Bytes per_page;         // layers that keep every token
  Bytes window_per_page;  // sliding layers
  Tokens window;          // the largest
  Bytes ring;             // compressors' rings, shared out over the tokens of a window
  Bytes state;            // recurrent layers, one state
  Bytes per_request;      // fixed, beside the pools
};
Rank rank_of(const std::vector<CacheGroup>& groups, const Serving&, std::int64_t tp,
             std::int64_t layers);

// What a pool holds.
struct Held {
  std::int64_t tokens = 0, window_tokens = 0;
  std::optional<std::int64_t> requests;  // that the states allow
};
Held held_by(Bytes pool, const Rank&, const Serving&);

// The smallest pool that holds `batch` sequences of `context` tokens.
Bytes pool_for(Tokens context, std::int64_t batch, const Rank&, const Serving&);

}  // namespace kvplan::sglang
