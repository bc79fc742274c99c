// SPDX-License-Identifier: Apache-2.0
// Gemma 3n and Gemma 4: global layers may have wider, fewer heads, values may be the keys, the last
// layers of the small models share the caches of earlier ones, and every token brings a row for
// every layer.
#include "catalog/huggingface/special.h"
#include "word_list.h"

namespace kvplan::huggingface {
namespace {

// Gemma 4's last layer looks at everything where no list says otherwise.
Reach gemma_reach(const Draft& d, std::int64_t i) {
  const bool last = i + 1 == d.layers && d.keys.length({"layer_types"}) == 0 &&
                    has_word(d.family.types, "gemma4");
  return last ? Reach(All{}) : reach_of(d, i);
}

bool is_global(const Draft& d, std::int64_t i) {
  return std::holds_alternative<All>(gemma_reach(d, i));
}

Attention geometry(const Draft& d, std::int64_t i, bool global) {
  Attention a = attention_shape(d);
  if (const auto own = own_keys(d, i)) {
    a.k_width = a.v_width = own->count_or({"head_dim"}, a.k_width);
    a.kv_heads = own->count_or({"num_key_value_heads"}, a.kv_heads);
  }
  const auto width = d.keys.integer({"global_head_dim"}, 1);
  const auto kv_heads = d.keys.integer({"num_global_key_value_heads"}, 1);
  if (!global) return a;
  a.k_width = a.v_width = width.value_or(a.k_width);
  a.kv_heads = kv_heads.value_or(a.kv_heads);
  if (a.heads % a.kv_heads != 0)
    d.keys.refuse({"num_global_key_value_heads"}, "does not divide the attention heads");
  return a;
}

// The last layer of the same kind that has a cache of its own.
std::optional<int> shared_with(const Draft& d, std::int64_t i, bool global) {
  const std::int64_t owners = d.layers - d.keys.integer({"num_kv_shared_layers"}).value_or(0);
  if (owners <= 0)
    d.keys.refuse({"num_kv_shared_layers"}, "no layer is left that has a cache to share");
  if (i < owners) return std::nullopt;
  for (std::int64_t j = owners - 1; j >= 0; --j)
    if (is_global(d, j) == global) return static_cast<int>(j);
  d.keys.refuse({"num_kv_shared_layers"}, "no earlier layer has a cache to share");
}

void add_gemma_attention(Draft& d, std::int64_t i, Layer& layer) {
  const bool global = is_global(d, i);
  add_heads(d, layer, geometry(d, i, global), gemma_reach(d, i));
  layer.mixer.shares_cache_of = shared_with(d, i, global);
}

void drop(Layer& layer, std::string_view name) {
  std::erase_if(layer.weights, [&](const Weight& w) { return w.name == name; });
}

// Gemma 4's experts stand beside the dense feed-forward, with norms of their own.
void add_gemma4_experts(Draft& d, Layer& layer) {
  if (!d.keys.flag({"enable_moe_block"}) || !d.experts) return;
  add_experts(d, layer, *d.experts);
  add_vector(layer.weights, "router.scale", Role::router, d.hidden);
  add_vector(layer.weights, "router.per_expert_scale", Role::router, d.experts->count);
  for (const std::string_view name : {"post_feedforward_layernorm_1", "pre_feedforward_layernorm_2",
                                      "post_feedforward_layernorm_2"})
    add_norm(d, layer.weights, name, d.hidden);
}

// Width of the row that a token brings for each layer; 0 where it brings none.
std::int64_t row_width(const Draft& d) {
  return d.keys.integer({"hidden_size_per_layer_input"}).value_or(0);
}

void add_row_gate(Draft& d, Layer& layer) {
  const std::int64_t width = row_width(d);
  if (width == 0) return;
  add_matrix(layer.weights, "per_layer_input_gate", Role::mlp, width, d.hidden);
  add_matrix(layer.weights, "per_layer_projection", Role::mlp, d.hidden, width);
  add_norm(d, layer.weights, "post_per_layer_input_norm", d.hidden);
}

// Learned augmented residual and alternating updates (Gemma 3n).
void add_laurel_and_altup(Draft& d, Layer& layer) {
  Weights& w = layer.weights;
  const std::int64_t rank = d.keys.count({"laurel_rank"}),
                     inputs = d.keys.count({"altup_num_inputs"});
  add_matrix(w, "laurel.linear_left", Role::mlp, rank, d.hidden);
  add_matrix(w, "laurel.linear_right", Role::mlp, d.hidden, rank);
  add_norm(d, w, "laurel.post_laurel_norm", d.hidden);
  add_vector(w, "altup.correct_output_scale", Role::mlp, d.hidden);
  add_matrix(w, "altup.correction_coefs", Role::mlp, inputs, inputs, Sharding::replicated);
  add_matrix(w, "altup.prediction_coefs", Role::mlp, inputs * inputs, inputs, Sharding::replicated);
  add_matrix(w, "altup.modality_router", Role::mlp, inputs, d.hidden, Sharding::replicated);
  add_norm(d, w, "altup.router_norm", d.hidden);
}

}  // namespace

void gemma4_layer(Draft& d, std::int64_t i, Layer& layer) {
  add_gemma_attention(d, i, layer);
  // With attention_k_eq_v the global layers have no value projection; engines still store both.
  const bool k_is_v = d.keys.flag({"attention_k_eq_v"});
  if (k_is_v && is_global(d, i)) drop(layer, "self_attn.v_proj");
  const bool wide = d.keys.flag({"use_double_wide_mlp"}) && layer.mixer.shares_cache_of;
  if (layer.mixer.shares_cache_of)  // such a layer has no projections of its own either
    for (const std::string_view name : {"self_attn.k_proj", "self_attn.v_proj", "self_attn.k_norm"})
      drop(layer, name);
  add_feed_forward(d, layer.weights, Role::mlp, d.inner * (wide ? 2 : 1), d.hidden);
  add_gemma4_experts(d, layer);
  add_layer_norms(d, layer);
  add_row_gate(d, layer);
  add_vector(layer.weights, "layer_scalar", Role::norm, 1);
}

void gemma3n_layer(Draft& d, std::int64_t i, Layer& layer) {
  add_gemma_attention(d, i, layer);
  add_mlp(d, i, layer);
  add_layer_norms(d, layer);
  add_row_gate(d, layer);
  add_laurel_and_altup(d, layer);
}

void finish_gemma4(Draft& d) {
  const std::int64_t width = row_width(d);
  const auto rows = d.keys.integer({"vocab_size_per_layer_input"}, 1, std::int64_t{1} << 31);
  if (width == 0) return;
  Weights& ends = d.model.ends;
  add_table(ends, "embed_tokens_per_layer", rows.value_or(d.vocabulary), d.layers * width);
  add_matrix(ends, "per_layer_model_projection", Role::mlp, d.layers * width, d.hidden);
  add_vector(ends, "per_layer_projection_norm", Role::norm, width);
}

void finish_gemma3n(Draft& d) {
  finish_gemma4(d);
  const std::int64_t others = d.keys.count({"altup_num_inputs"}) - 1;
  d.keys.pass_over({"altup_active_idx", "altup_coef_clip", "altup_correct_scale",
                    "activation_sparsity_pattern"});
  for (const std::string_view name : {"altup_projections", "altup_unembed_projections"}) {
    add_matrix(d.model.ends, name, Role::mlp, d.hidden, d.hidden);
    d.model.ends.back().copies = d.model.ends.back().active = others;
  }
}

}  // namespace kvplan::huggingface
