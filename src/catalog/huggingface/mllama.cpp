// SPDX-License-Identifier: Apache-2.0
// Llama 3.2 Vision: some layers attend to image tokens only; the embedding table has eight more
// rows than the head.
#include <algorithm>

#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {

void mllama_layer(Draft& d, std::int64_t i, Layer& layer) {
  const auto cross = d.keys.integers({"cross_attention_layers"});
  if (std::find(cross.begin(), cross.end(), i) == cross.end()) return decoder_layer(d, i, layer);
  add_heads(d, layer, {d.heads, d.kv_heads, d.head_dim, d.head_dim}, Source{});
  add_vector(layer.weights, "cross_attn.q_norm", Role::norm, d.head_dim);
  add_vector(layer.weights, "cross_attn.k_norm", Role::norm, d.head_dim);
  add_vector(layer.weights, "cross_attn_attn_gate", Role::attention, 1);
  add_vector(layer.weights, "cross_attn_mlp_gate", Role::mlp, 1);
  add_mixer_of_experts_or_mlp(d, i, layer);
  add_norm(d, layer.weights, "input_layernorm", d.hidden);
  add_norm(d, layer.weights, "post_attention_layernorm", d.hidden);
}

void finish_mllama(Draft& d) {
  for (Weight& w : d.model.ends)
    if (w.role == Role::embedding) w.rows += 8;
}

}  // namespace kvplan::huggingface
