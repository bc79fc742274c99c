// SPDX-License-Identifier: Apache-2.0
// The same model with another attention: what MHA, GQA, MQA, MLA or a window would store, read and
// weigh.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/spec.h"

namespace kvplan {

struct Variant {
  enum Kind { mha, gqa, mqa, mla, window } kind = mha;
  std::string name;                      // "GQA-8", "MLA 512+64", "window 4096"
  std::optional<std::int64_t> kv_heads;  // absent for MLA
  bool original = false;                 // the model as it is
  ModelSpec model;
  std::int64_t elements_per_token_per_layer = 0;  // of one attention layer, keys and values
  std::int64_t kv_projection_parameters_per_layer =
      0;  // weights that make them from the hidden row
};

struct LatentWidths {
  std::int64_t latent, rope;
};
// 4 · head_dim and head_dim / 2 (DeepSeek-V2 report, section 2.1.4).
LatentWidths usual_latent(const ModelSpec&);

// MHA first, then every number of KV heads that divides the query heads, then MLA and a window
// (4,096 tokens, or the model's own). Layers without attention over tokens stay as they are. Throws
// Error for a model that has none.
std::vector<Variant> attention_variants(const ModelSpec&, std::optional<LatentWidths> = {});

}  // namespace kvplan
