// SPDX-License-Identifier: Apache-2.0
// Multi-token prediction: extra layers that a checkpoint brings and a speculating engine uses
// (DeepSeek-V3, section 2.2).
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

std::int64_t module_count(const Draft& d) {
  if (const auto n = d.keys.integer(
          {"num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"}, 0, 64))
    return *n;
  // Qwen3-Next stores one module that its configuration does not mention.
  return d.family.model_type == "qwen3_next" ? 1 : 0;
}

}  // namespace

void read_mtp(Draft& d) {
  const std::int64_t modules = module_count(d);
  for (std::int64_t n = 0; n < modules; ++n) {
    Layer layer;
    layer.role = Layer::mtp;
    const std::int64_t last = d.layers - 1;  // shaped like the last layer of the main model
    if (d.family.layer)
      d.family.layer(d, last, layer);
    else {
      add_attention(d, last, layer);
      add_mixer_of_experts_or_mlp(d, last, layer);
      for (int i = 0; i < d.family.norms_per_layer; ++i)
        add_norm(d, layer.weights, "input_layernorm", d.hidden);
    }
    // Joins the hidden row with the next token's embedding: a projection and three norms.
    add_matrix(layer.weights, "eh_proj", Role::mlp, d.hidden, 2 * d.hidden, Sharding::replicated);
    for (const std::string_view name : {"enorm", "hnorm", "shared_head.norm"})
      add_norm(d, layer.weights, name, d.hidden);
    d.model.layers.push_back(std::move(layer));
  }
}

}  // namespace kvplan::huggingface
