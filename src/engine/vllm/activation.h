// SPDX-License-Identifier: Apache-2.0
// Peak memory of the dummy run that vLLM profiles before it sizes the cache. The formula and its
// constants were fitted to start-up logs: vllm#10511, #10517, #23278, #25350, #27508.
#pragma once
#include "engine/vllm/pages.h"

namespace kvplan::vllm {

struct ActivationShape {
  std::int64_t hidden = 0;
  std::int64_t inner = 0;      // FFN width of dense layers; 0 where experts run in chunks
  std::int64_t q = 0, kv = 0;  // heads x width
  std::int64_t vocabulary = 0;
  std::int64_t tp = 1;
  bool normed_heads = false;  // queries and keys are normed per head
  bool compressed = false;    // some layers compress their cache
};

// Bytes per token of one layer's temporaries in 16 bits.
double layer_bytes_per_token(const ActivationShape&);
// max(T x layer, T x hidden x 2 + S x V x c): the layers, or the sampler over all logits.
double activation_peak(const ActivationShape&, std::int64_t batched_tokens, std::int64_t sequences,
                       double sampler_bytes);

// The widest layer's shape.
ActivationShape activation_shape(const ModelSpec&, std::int64_t tp);
BudgetLine activation_line(const Served&, const ActivationShape&);

}  // namespace kvplan::vllm
