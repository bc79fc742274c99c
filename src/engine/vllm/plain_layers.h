// SPDX-License-Identifier: Apache-2.0
// Layers whose cache stays in the model's format beside a narrower one (kv_cache_dtype_skip_layers)
// and the page that both share. vllm/platforms/interface.py of 0.33.0:
// _align_heterogeneous_kv_block_size.
#pragma once
#include "engine/vllm/pages.h"

namespace kvplan::vllm {

// Each group once more for those of its layers that stay in the model's format.
std::vector<CacheGroup> with_plain_layers(std::vector<CacheGroup>, const PlainLayers&,
                                          const Format& native);

// Blocks of the narrower rows, and what their page comes to.
struct SharedPage {
  std::int64_t block = 0;
  Bytes bytes;
};
// Wide enough for 16 rows in the model's format, and for the state of a hybrid model. `block` and
// `state` are what the layers would take without plain ones.
SharedPage shared_page(const CacheGroup& first, std::int64_t block, Bytes state, const Served&);
// Tokens of a window's block: as many as its page holds, in steps of what kernels take.
std::int64_t window_block(Bytes page, Bytes row);

}  // namespace kvplan::vllm
