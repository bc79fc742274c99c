// SPDX-License-Identifier: Apache-2.0
// One layer of an ordinary decoder: a mixer, a feed-forward, their norms.
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {

void decoder_layer(Draft& d, std::int64_t i, Layer& layer) {
  const bool linear = is_linear_layer(d, i);
  if (linear)
    add_gated_delta_net(d, layer);
  else
    add_attention(d, i, layer);
  add_mixer_of_experts_or_mlp(d, i, layer);
  for (int n = 0; n < d.family.norms_per_layer; ++n)
    add_norm(d, layer.weights, n == 0 ? "input_layernorm" : "post_attention_layernorm", d.hidden);
  if (d.family.model_type == "gpt_oss")
    add_vector(layer.weights, "self_attn.sinks", Role::attention, d.heads);
}

}  // namespace kvplan::huggingface
