// SPDX-License-Identifier: Apache-2.0
#include "engine/trtllm/pools.h"

#include <algorithm>
#include <cmath>

namespace kvplan::trtllm {
namespace {

// Heads are rounded up, not refused.
Bytes row_bytes(const CacheGroup& group, std::int64_t ranks) {
  Bytes sum;
  for (const Part& part : group.entry)
    sum += cache_row_bytes(*part.format, part.replicated ? part.heads : ceil_div(part.heads, ranks),
                           part.width);
  return sum;
}

void add(std::vector<Pool>& pools, std::optional<std::int64_t> window, Bytes bytes) {
  for (Pool& pool : pools)
    if (pool.window == window) return void(pool.per_token += bytes);
  pools.push_back({window, bytes});
}

std::int64_t capped(const Pool& pool, std::int64_t length) {
  return pool.window ? std::min(*pool.window, length) : length;
}

// Memory of one sequence at full windows, by which the memory is shared out.
double weight_of(const Pool& pool, std::int64_t longest) {
  return pool.per_token.real() * static_cast<double>(capped(pool, longest));
}

double total_weight(const std::vector<Pool>& pools, std::int64_t longest) {
  double sum = 0;
  for (const Pool& pool : pools) sum += weight_of(pool, longest);
  return sum;
}

}  // namespace

std::vector<Pool> pools_of(const std::vector<CacheGroup>& groups, const Serving& s) {
  std::vector<Pool> pools;
  for (const CacheGroup& group : groups) {
    if (std::holds_alternative<State>(group.law))
      throw Error("how TensorRT-LLM keeps recurrent states is not known").of("--engine");
    if (std::holds_alternative<Compressed>(group.law))
      throw Error("how TensorRT-LLM keeps compressed caches is not known").of("--engine");
    if (std::holds_alternative<Source>(group.law))
      throw Error("how TensorRT-LLM keeps caches of encoder tokens is not known").of("--engine");
    const Bytes row = row_bytes(group, s.ranks);
    for (const int layer : group.layers) {
      std::optional<std::int64_t> window;
      if (!s.windows.empty())
        window = s.windows[static_cast<std::size_t>(layer) % s.windows.size()];
      add(pools, window, row);
    }
  }
  return pools;
}

std::vector<std::int64_t> blocks_of(Bytes memory, const std::vector<Pool>& pools, const Serving& s,
                                    Tokens longest) {
  std::vector<std::int64_t> blocks;
  const double total = total_weight(pools, longest.n);
  for (const Pool& pool : pools) {
    // One window takes everything, exactly.
    std::int64_t tokens =
        pools.size() == 1 ? memory / pool.per_token
                          : static_cast<std::int64_t>(memory.real() * weight_of(pool, longest.n) /
                                                      total / pool.per_token.real());
    if (s.max_tokens) tokens = std::min(tokens, *s.max_tokens);
    blocks.push_back(ceil_div(std::max<std::int64_t>(tokens, 0), s.block));
  }
  return blocks;
}

Bytes memory_for(Tokens context, std::int64_t batch, const std::vector<Pool>& pools,
                 const Serving& s) {
  const double total = total_weight(pools, context.n);
  double most = 0;
  Bytes exact;
  for (const Pool& pool : pools) {
    const std::int64_t blocks = checked_mul(ceil_div(capped(pool, context.n), s.block), batch);
    exact = pool.per_token * checked_mul(blocks, s.block);
    const double share = weight_of(pool, context.n) / total;
    if (share > 0) most = std::max(most, exact.real() / share);
  }
  return pools.size() == 1 ? exact : Bytes(static_cast<std::int64_t>(std::ceil(most)));
}

}  // namespace kvplan::trtllm
