// SPDX-License-Identifier: Apache-2.0
// Weights that one rank holds: sharded and padded as vLLM does.
#pragma once
#include "engine/vllm/pages.h"

namespace kvplan::vllm {

struct RankWeights {
  Bytes low;    // as the checkpoint has them, sharded
  Bytes value;  // with the padding of MXFP4 experts and the table of rotary embeddings
};

// Checkpoints in 32 bits are loaded in 16 (vllm/config/model.py: dtype auto).
ModelSpec as_loaded(ModelSpec);

// The fullest pipeline stage's.
RankWeights rank_weights(const Served&);

}  // namespace kvplan::vllm
