// SPDX-License-Identifier: Apache-2.0
// Which layers share a block table, and how large a block of the shared pool is.
#pragma once
#include <vector>

#include "engine/vllm/demand.h"
#include "engine/vllm/pages.h"

namespace kvplan::vllm {

// Layers that share one block table.
struct Group {
  Demand demand;
  struct Layer {
    Bytes page;
    int stage;
  };
  std::vector<Layer> layers;
  bool recurrent = false;
};

// Throws Error where this version would refuse the model.
Layout layout_of(std::vector<Bucket>, const Served&);

// Groups whose pages differ (packed.cpp): DeepSeek-V4, and since 0.27 every model whose pages do
// not divide each other. The first bucket's demand is that of the cache proper.
Layout packed_layout(const std::vector<Bucket>&, const Served&);

// The chunk that minimises the layers added when every count is rounded up to a multiple of it;
// the larger of equals.
std::int64_t common_repeat(const std::vector<std::int64_t>& counts, std::int64_t at_least);

// Rows of the demands of `groups`, in their order; equal demands are one row.
std::vector<Layout::Row> rows_of(const std::vector<Group>&);
// The bucket's layers dealt out to `count` groups, so that each pipeline stage has its share.
std::vector<Group> dealt(const Bucket&, std::int64_t count);

}  // namespace kvplan::vllm
