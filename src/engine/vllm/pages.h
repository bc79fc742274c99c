// SPDX-License-Identifier: Apache-2.0
// Bytes of one layer's page: a block of tokens of its cache, or its state of one sequence.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/vllm/demand.h"
#include "engine/vllm/serving.h"
#include "model/cache.h"

namespace kvplan::vllm {

// Layers with the same page and the same demand.
struct Bucket {
  Demand demand;
  Bytes page;
  std::vector<int> stages;  // the pipeline stage of each layer
  std::vector<Part> entry;  // what a page holds per token; empty for states
  bool recurrent = false;
};

// A model as this server sees it: formats and flags resolved.
struct Served {
  const ModelSpec& model;
  const Parallelism& parallel;
  const Rules& rules;
  const Serving& serving;
  Tokens source_tokens;
};

// Bytes of one entry of one layer on one rank, as the engine stores it.
Bytes row_bytes(const CacheGroup&, const Served&);
// A recurrent layer's state on one rank; the convolution keeps room for drafted tokens.
Bytes state_page(const State&, const Served&);
// Tokens of an attention block of a hybrid model: enough that its page holds a state.
std::int64_t hybrid_block(Bytes state, Bytes row, std::int64_t grain);
// The pipeline stage of each layer of the model. vllm/distributed/utils.py.
std::vector<int> stages_of(const ModelSpec&, std::int64_t pp);

// One bucket for each cache group, pages not yet made equal.
std::vector<Bucket> buckets_of(const std::vector<CacheGroup>&, const Served&);
// Likewise for DeepSeek-V4, whose compressors keep states that the model alone does not name.
std::vector<Bucket> compressed_buckets(const std::vector<CacheGroup>&, const Served&);

// Parts shared by both.
std::int64_t attention_block(const std::vector<CacheGroup>&, const Served&);
std::vector<int> stages_of_group(const CacheGroup&, const Served&);

}  // namespace kvplan::vllm
