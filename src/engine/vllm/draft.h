// SPDX-License-Identifier: Apache-2.0
// Speculative decoding: who drafts, and with which cache layers of its own.
#pragma once
#include <cstdint>
#include <optional>

#include "engine/engine.h"
#include "engine/settings.h"

namespace kvplan::vllm {

struct Draft {
  enum Layers { none, own_mtp, given } layers = none;
  std::int64_t tokens = 0;                          // drafted per step
  std::optional<std::int64_t> hidden_state_layers;  // whose outputs are kept to train a draft
};
Draft draft_of(const Settings&);

// The model with the layers that draft for it in place of its MTP layers: these where they draft
// themselves, those of another model by its shape
// (speculative_config.draft_model_config.hf_config), or none. Throws Error where the shape is not
// known.
ModelSpec drafted(ModelSpec, const Draft&, const Settings&);

}  // namespace kvplan::vllm
