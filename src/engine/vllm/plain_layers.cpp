// SPDX-License-Identifier: Apache-2.0
#include "engine/vllm/plain_layers.h"

#include <algorithm>

namespace kvplan::vllm {
namespace {

constexpr std::int64_t kKernelBlock = 16;  // tokens, the least of FlashAttention and Triton

CacheGroup in_format(CacheGroup group, const Format& native) {
  for (Part& part : group.entry)
    if (part.role != Part::index) part.format = &native;
  return group;
}

// Moves the layers that stay plain from one list to the other.
void move_plain(const PlainLayers& plain, bool slides, std::vector<int>& from,
                std::vector<int>& to) {
  const auto stays = [&](int layer) { return !plain.has(layer, slides); };
  const auto first_plain = std::stable_partition(from.begin(), from.end(), stays);
  to.assign(first_plain, from.end());
  from.erase(first_plain, from.end());
}

}  // namespace

std::vector<CacheGroup> with_plain_layers(std::vector<CacheGroup> groups, const PlainLayers& plain,
                                          const Format& native) {
  std::vector<CacheGroup> all;
  for (CacheGroup& group : groups) {
    CacheGroup wide = in_format(group, native);
    const bool slides = std::holds_alternative<Window>(group.law);
    move_plain(plain, slides, group.layers, wide.layers);
    move_plain(plain, slides, group.readers, wide.readers);
    if (std::holds_alternative<State>(group.law) || wide.layers.empty()) {
      group.layers.insert(group.layers.end(), wide.layers.begin(), wide.layers.end());
      all.push_back(std::move(group));
      continue;
    }
    if (!group.layers.empty()) all.push_back(std::move(group));
    all.push_back(std::move(wide));
  }
  return all;
}

SharedPage shared_page(const CacheGroup& first, std::int64_t block, Bytes state,
                       const Served& served) {
  const Bytes row = row_bytes(first, served);
  const Bytes wide = row_bytes(in_format(first, *served.model.native), served);
  if (wide > row) {
    const std::int64_t step = std::max(kKernelBlock, block);
    const Bytes needed = std::max(wide * kKernelBlock, state);
    block = std::max(block, checked_mul(step, ceil_div(needed.n, (row * step).n)));
  }
  return {block, row * block};
}

std::int64_t window_block(Bytes page, Bytes row) {
  return std::max(kKernelBlock, page / row / kKernelBlock * kKernelBlock);
}

}  // namespace kvplan::vllm
