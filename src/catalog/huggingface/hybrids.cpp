// SPDX-License-Identifier: Apache-2.0
// Families that mix attention layers with recurrent ones.
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {

namespace {

// Kimi Linear's own lists count layers from 1.
bool attends(const Draft& d, std::int64_t i) {
  const auto linear = d.keys.if_inside({"linear_attn_config"});
  if (!linear || (linear->length({"full_attn_layers"}) == 0 && d.keys.has({"layer_types"}))) {
    const auto type = d.keys.entry_text({"layer_types"}, i);
    if (!type) d.keys.required({"linear_attn_config"});
    return *type == "full_attention";
  }
  const bool full = linear->lists({"full_attn_layers"}, i + 1),
             kda = linear->lists({"kda_layers"}, i + 1);
  if (full == kda)
    d.keys.refuse({"linear_attn_config"},
                  "layer " + std::to_string(i + 1) + " must stand in exactly one of the two lists");
  return full;
}

}  // namespace

// Kimi Linear. K3 adds norms and gates that weigh earlier blocks' residuals.
void kimi_linear_layer(Draft& d, std::int64_t i, Layer& layer) {
  if (attends(d, i))
    add_latent_attention(d, i, layer);
  else
    add_kda(d, layer);
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
  if (!d.keys.has({"attn_res_block_size"})) return;
  for (const std::string_view name : {"self_attention_res_norm", "mlp_res_norm"})
    add_norm(d, layer.weights, name, d.hidden);
  for (const std::string_view name : {"self_attention_res_proj", "mlp_res_proj"})
    add_vector(layer.weights, name, Role::attention, d.hidden);
}

// Jamba: Mamba with norms on its time step and matrices, attention at a period.
void jamba_layer(Draft& d, std::int64_t i, Layer& layer) {
  const std::int64_t period = d.keys.count({"attn_layer_period"}),
                     offset = d.keys.integer({"attn_layer_offset"}).value_or(0);
  if (i % period == offset) {
    add_attention(d, i, layer);
  } else {
    const Recurrent r = add_mamba1(d, layer, d.keys.count_or({"mamba_expand"}, 2) * d.hidden);
    layer.mixer.kind = r;
    add_vector(layer.weights, "mixer.dt_layernorm", Role::norm, time_step_rank(d));
    add_vector(layer.weights, "mixer.b_layernorm", Role::norm, r.k_width);
    add_vector(layer.weights, "mixer.c_layernorm", Role::norm, r.k_width);
  }
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

// Granite 4 and Bamba: Mamba-2 or attention, as listed; Granite's shared feed-forward stands beside
// the experts, or alone where there are none.
void mamba2_hybrid_layer(Draft& d, std::int64_t i, Layer& layer) {
  const auto type = d.keys.entry_text({"layer_types", "layers_block_type"}, i);
  // transformers v5 calls the two as in other models.
  const bool listed = type && (*type == "attention" || *type == "full_attention"),
             attention = type ? listed : d.keys.lists({"attn_layer_indices"}, i);
  if (type && !listed && *type != "mamba" && *type != "linear_attention")
    d.keys.refuse({"layer_types", "layers_block_type"}, "kv-plan does not know '" + *type + "'");
  if (!type) d.keys.required({"attn_layer_indices"});
  if (attention)
    add_heads(d, layer, attention_shape(d), All{});
  else
    layer.mixer.kind = add_mamba2(d, layer);
  const auto shared = d.keys.integer({"shared_intermediate_size"}, 1);
  if (shared && !d.experts)
    add_feed_forward(d, layer.weights, Role::mlp, *shared, d.hidden);
  else
    add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

// Falcon-H1: attention and Mamba-2 side by side in every layer.
void falcon_h1_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.pass_over({"attn_layer_indices", "mlp_expansion_factor"});
  add_attention(d, i, layer);
  layer.mixer.beside = add_mamba2(d, layer);
  if (d.keys.flag({"mamba_use_mlp"}, true)) add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

// LFM2's feed-forward: two thirds of the width, scaled, rounded up.
void lfm2_widths(Draft& d) {
  const Keys& k = d.keys;
  const std::int64_t multiple = k.count_or({"block_multiple_of"}, 256);
  const double scale = k.number({"block_ffn_dim_multiplier"}).value_or(1);
  k.pass_over({"block_dim", "block_mlp_init_scale", "block_out_init_scale", "block_norm_eps",
               "block_use_swiglu", "block_use_xavier_init", "num_heads"});
  if (!k.flag({"block_auto_adjust_ff_dim"})) return;
  if (!(scale > 0 && scale < 1024)) k.refuse({"block_ffn_dim_multiplier"}, "out of range");
  const std::int64_t two_thirds = 2 * d.inner / 3;
  const auto width = static_cast<std::int64_t>(scale * static_cast<double>(two_thirds));
  d.inner = round_up(width, multiple);
}

void lfm2_layer(Draft& d, std::int64_t i, Layer& layer) {
  const auto type = d.keys.entry_text({"layer_types"}, i);
  const bool slides = type && *type == "sliding_attention";
  const bool attention =
      slides || (type ? *type == "full_attention" : d.keys.lists({"full_attn_idxs"}, i));
  if (type && *type != "conv" && !attention)
    d.keys.refuse({"layer_types"}, "kv-plan does not know '" + *type + "'");
  if (!type) d.keys.required({"full_attn_idxs"});
  d.keys.pass_over({"conv_L_cache"});
  if (attention)
    add_heads(d, layer, attention_shape(d), slides ? reach_of(d, i) : Reach(All{}));
  else
    add_short_conv(d, layer);
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

void mamba_layer(Draft& d, std::int64_t, Layer& layer) {
  const std::int64_t expanded = d.keys.count_or({"expand"}, 2) * d.hidden;
  layer.mixer.kind = add_mamba1(d, layer, d.keys.count_or({"intermediate_size"}, expanded));
  add_layer_norms(d, layer);
}

void mamba2_layer(Draft& d, std::int64_t, Layer& layer) {
  layer.mixer.kind = add_mamba2(d, layer);
  add_layer_norms(d, layer);
}

}  // namespace kvplan::huggingface
