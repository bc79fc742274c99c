// SPDX-License-Identifier: Apache-2.0
// How soon the first token can come at best: exact causal flops, the head for the last position
// only.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/breakdown.h"
#include "cost/decode.h"

namespace kvplan {

struct Prefill {
  Flops flops;            // all GPUs of one replica together
  Flops attention_flops;  // of these, scores, values and recurrent updates
  Bytes weight_bytes;     // every weight once; MoE: every expert that the tokens' choices can reach
  Bytes kv_bytes;         // written
  std::optional<Seconds> seconds;
  Bound bound = Bound::compute;
};

// `prompt` tokens per sequence, `batch` sequences, nothing cached; a shared prefix is computed
// once. prompt >= 1, batch >= 1.
Prefill prefill(const ModelSpec&, const Deployment&, const DeviceSpec&, Tokens prompt,
                std::int64_t batch, Trace* = nullptr);

// ---- one rank

struct PromptLoad {
  Past past;                   // past.context is the prompt
  std::int64_t sequences = 1;  // of one replica
  Passes passes;
};
PromptLoad prompt_load(const Deployment&, Tokens prompt, std::int64_t batch);

struct RankPrefill {
  Bytes weights, written;              // weights as in the ceiling
  double products = 0, attention = 0;  // flops
  Seconds memory, compute, link;

  Seconds total() const { return std::max({memory, compute, link}); }
  Bound bound() const;
};
// Weights, then caches.
std::vector<Portion> prefill_portions(const RankTerms&, const DeviceSpec&, const PromptLoad&);
RankPrefill prefill_of(const RankTerms&, const DeviceSpec&, const PromptLoad&);

}  // namespace kvplan
