// SPDX-License-Identifier: Apache-2.0
// Weights that one rank holds: sharded and padded as vLLM does.
#pragma once
#include "engine/settings.h"
#include "engine/vllm/pages.h"

namespace kvplan::vllm {

struct RankWeights {
  Bytes low;     // as the checkpoint has them, sharded
  Bytes value;   // with the padding of MXFP4 experts and the table of rotary embeddings
  Bytes layers;  // of these, what the host can take
  Bytes matrix;  // the largest that goes to the host whole
};

// Checkpoints in 32 bits are loaded in 16 (vllm/config/model.py: dtype auto), others in 32 where
// dtype says so; without sliding windows a model is no longer than one (disable_sliding_window).
ModelSpec as_loaded(ModelSpec, const Settings&);

// The fullest pipeline stage's.
RankWeights rank_weights(const Served&);

}  // namespace kvplan::vllm
