// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/paged_cache.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "kernels/problem.h"

namespace kvplan {
namespace {

constexpr int kOneBlock = 30;        // 2^30 tokens: more than any sequence
constexpr std::int64_t kScales = 4;  // fp32 scales of four tokens are copied together

}  // namespace

PagedCache::PagedCache(std::int64_t batch, std::int64_t heads, std::int64_t tokens,
                       std::int64_t block_tokens)
    : blocks_per_sequence(block_tokens ? ceil_div(tokens, block_tokens) : 1),
      block_shift(block_tokens ? std::countr_zero(static_cast<std::uint64_t>(block_tokens))
                               : kOneBlock),
      batch_(batch),
      heads_(heads),
      tokens_(tokens),
      block_tokens_(block_tokens ? block_tokens : round_up(tokens, kScales)) {
  table.resize(static_cast<std::size_t>(batch * blocks_per_sequence));
  std::iota(table.begin(), table.end(), 0);
  for (std::size_t i = table.size(); block_tokens && i > 1; --i)  // Fisher and Yates
    std::swap(table[i - 1], table[mixed(i) % i]);
}

std::int64_t PagedCache::row(std::int64_t sequence, std::int64_t head, std::int64_t token) const {
  const std::int64_t block = table[sequence * blocks_per_sequence + (token >> block_shift)];
  return (block * heads_ + head) * block_tokens_ + (token & ((std::int64_t{1} << block_shift) - 1));
}

std::int64_t PagedCache::run_of(std::int64_t token) const {
  const std::int64_t block_end = ((token >> block_shift) + 1) << block_shift;
  return std::min(tokens_, block_end) - token;
}

}  // namespace kvplan
