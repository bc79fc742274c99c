// SPDX-License-Identifier: Apache-2.0
// Gemma 4: global layers have wider, fewer heads, may use the key projection for values, and the
// last layers of the small models share the caches of earlier ones.
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

Attention geometry(const Draft& d, bool global) {
  Attention a{d.heads, d.kv_heads, d.head_dim, d.head_dim};
  if (!global) return a;
  a.k_width = a.v_width = d.keys.integer({"global_head_dim"}, 1).value_or(d.head_dim);
  a.kv_heads = d.keys.integer({"num_global_key_value_heads"}, 1).value_or(d.kv_heads);
  return a;
}

// The nearest earlier layer of the same kind that has a cache of its own.
std::optional<int> shared_with(const Draft& d, std::int64_t i, bool global) {
  const std::int64_t owners = d.layers - d.keys.integer({"num_kv_shared_layers"}).value_or(0);
  if (i < owners) return std::nullopt;
  for (std::int64_t j = owners - 1; j >= 0; --j)
    if (std::holds_alternative<All>(reach_of(d, j)) == global) return static_cast<int>(j);
  throw Error("no earlier layer has a cache to share").of("num_kv_shared_layers");
}

void add_moe_block(Draft& d, std::int64_t i, Layer& layer) {
  add_feed_forward(d, layer.weights, Role::mlp, d.inner, d.hidden);
  if (!d.keys.flag({"enable_moe_block"})) return;
  add_mixer_of_experts_or_mlp(d, i, layer);
  add_vector(layer.weights, "router.scale", Role::router, d.hidden);
  add_vector(layer.weights, "router.per_expert_scale", Role::router, d.keys.count({"num_experts"}));
  for (int n = 0; n < 3; ++n) add_norm(d, layer.weights, "feedforward_layernorm", d.hidden);
}

}  // namespace

void gemma4_layer(Draft& d, std::int64_t i, Layer& layer) {
  const Reach reach = reach_of(d, i);
  const bool global = std::holds_alternative<All>(reach);
  const Attention a = geometry(d, global);
  add_heads(d, layer, a, reach);
  // With attention_k_eq_v the global layers have no value projection; engines still store keys and
  // values.
  if (global && d.keys.flag({"attention_k_eq_v"}))
    std::erase_if(layer.weights, [](const Weight& w) { return w.name == "self_attn.v_proj"; });
  layer.mixer.shares_cache_of = shared_with(d, i, global);
  add_moe_block(d, i, layer);
  for (int n = 0; n < d.family.norms_per_layer; ++n)
    add_norm(d, layer.weights, "layernorm", d.hidden);
  add_vector(layer.weights, "layer_scalar", Role::norm, 1);
}

void finish_gemma4(Draft& d) {
  const auto width = d.keys.integer({"hidden_size_per_layer_input"});
  if (!width || *width == 0) return;
  // Per-layer embeddings (E-models): a table of `layers` rows of `width` per token, a gate and a
  // projection in each layer.
  const std::int64_t rows =
      d.keys.integer({"vocab_size_per_layer_input"}, 1).value_or(d.vocabulary);
  Weight table;
  table.name = "embed_tokens_per_layer";
  table.role = Role::embedding;
  table.is_matrix = false;
  table.rows = rows;
  table.columns = checked_mul(d.layers, *width);
  d.model.ends.push_back(table);
  add_matrix(d.model.ends, "per_layer_model_projection", Role::mlp, d.layers * *width, d.hidden);
  add_vector(d.model.ends, "per_layer_projection_norm", Role::norm, *width);
  for (Layer& layer : d.model.layers) {
    add_matrix(layer.weights, "per_layer_input_gate", Role::mlp, *width, d.hidden);
    add_matrix(layer.weights, "per_layer_projection", Role::mlp, d.hidden, *width);
    add_norm(d, layer.weights, "post_per_layer_input_norm", d.hidden);
  }
}

}  // namespace kvplan::huggingface
