// SPDX-License-Identifier: Apache-2.0
// Linear attention and gated recurrences beside Mamba: lightning attention (MiniMax-01 report 2025,
// Ring-linear report 2025), RG-LRU (Griffin, De et al. 2024), RWKV (Peng et al. 2023).
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

// A square matrix for each head decays and grows; no convolution.
Recurrent lightning(const Draft& d) {
  Recurrent r;
  r.kind = Recurrent::lightning;
  r.k_heads = r.v_heads = d.heads;
  r.k_width = r.v_width = d.head_dim;
  return r;
}

void add_state_matrix(Draft& d, Layer& layer, std::string_view name, std::int64_t rows) {
  add_matrix(layer.weights, name, Role::state, rows, d.hidden);
}

void add_minimax_lightning(Draft& d, Layer& layer) {
  const std::int64_t width = d.heads * d.head_dim;
  layer.mixer.kind = lightning(d);
  add_state_matrix(d, layer, "self_attn.qkv_proj", 3 * width);
  add_state_matrix(d, layer, "self_attn.output_gate", width);
  add_matrix(layer.weights, "self_attn.out_proj", Role::state, d.hidden, width);
  add_vector(layer.weights, "self_attn.norm", Role::norm, width);
}

// Of the checkpoint's first form (0: lightning), of transformers', or, by default, in turn.
bool is_lightning(const Draft& d, std::int64_t i) {
  const auto listed = d.keys.entry_integer({"attn_type_list"}, i);
  if (listed) return *listed == 0;
  const auto type = d.keys.entry_text({"layer_types"}, i);
  return type ? *type == "linear_attention" : i % 2 != 0;
}

}  // namespace

void minimax_layer(Draft& d, std::int64_t i, Layer& layer) {
  if (d.keys.uniform({"shared_intermediate_size"}).value_or(0) > 0)
    d.keys.refuse({"shared_intermediate_size"}, "kv-plan knows MiniMax without shared experts");
  d.keys.pass_over({"block_size", "postnorm", "shared_moe_mode", "rotary_dim"});
  if (is_lightning(d, i))
    add_minimax_lightning(d, layer);
  else
    add_heads(d, layer, attention_shape(d), All{});
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

// Ling and Ring "linear": every layer_group_size-th layer attends, as do the last ones that fill
// no group.
void bailing_linear_layer(Draft& d, std::int64_t i, Layer& layer) {
  const std::int64_t group = d.keys.count_or({"layer_group_size"}, 1),
                     whole = d.layers / group * group;
  d.keys.pass_over({"group_norm_size", "linear_silu", "linear_rope"});
  if ((i + 1) % group == 0 || i >= whole) return decoder_layer(d, i, layer);
  const std::int64_t width = d.heads * d.head_dim;
  layer.mixer.kind = lightning(d);
  add_state_matrix(d, layer, "attention.query_key_value", 3 * width);
  add_state_matrix(d, layer, "attention.g_proj", width);
  add_matrix(layer.weights, "attention.dense", Role::state, d.hidden, width);
  add_vector(layer.weights, "attention.g_norm", Role::norm, width);
  if (d.keys.flag({"use_qk_norm"}, true)) {
    add_vector(layer.weights, "attention.query_layernorm", Role::norm, d.head_dim);
    add_vector(layer.weights, "attention.key_layernorm", Role::norm, d.head_dim);
  }
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

// RecurrentGemma: two layers of RG-LRU, then one that looks at a window; `intermediate_size` counts
// gate and up together.
void recurrent_gemma_layer(Draft& d, std::int64_t i, Layer& layer) {
  const std::int64_t width = d.keys.count_or({"lru_width"}, d.hidden),
                     taps = d.keys.count_or({"conv1d_width"}, 4),
                     window = d.keys.count_or({"attention_window_size"}, 2048),
                     types = d.keys.length({"block_types", "_block_types"});
  const auto type = types > 0 ? d.keys.entry_text({"block_types", "_block_types"}, i % types)
                              : std::optional<std::string>();
  d.keys.pass_over({"w_init_variance_scale", "final_w_init_variance_scale", "logits_soft_cap"});
  Weights& w = layer.weights;
  if (type ? *type == "attention" : i % 3 == 2) {
    add_heads(d, layer, attention_shape(d), Window{Tokens(window)});
    add_vector(w, "temporal_block.o_proj.bias", Role::attention, d.hidden);
  } else {
    if (width % d.heads != 0) d.keys.refuse({"lru_width"}, "is not a multiple of the heads");
    Recurrent r;
    r.kind = Recurrent::rg_lru;
    r.k_heads = r.v_heads = d.heads;
    r.k_width = 1;
    r.v_width = width / d.heads;
    r.taps = taps;
    r.conv_channels = width;
    layer.mixer.kind = r;
    for (const std::string_view name : {"temporal_block.linear_y", "temporal_block.linear_x"})
      add_state_matrix(d, layer, name, width);
    add_matrix(w, "temporal_block.linear_out", Role::state, d.hidden, width);
    add_vector(w, "temporal_block.linear.bias", Role::state, 2 * width + d.hidden);
    add_vector(w, "temporal_block.conv_1d", Role::state, product(width, taps + 1));
    // Two gates of one square block a head, their biases, and the decay.
    add_matrix(w, "temporal_block.rg_lru.gate_weight", Role::state, 2 * width, r.v_width);
    add_vector(w, "temporal_block.rg_lru.gate_bias", Role::state, 3 * width);
  }
  add_feed_forward(d, w, Role::mlp, d.inner, d.hidden);
  add_layer_norms(d, layer);
}

// xLSTM-7B (Beck et al. 2025): each head keeps a matrix of keys and values, a row of keys and a
// maximum in fp32; input and forget gates are a number a head, the output's gate is as wide as it.
void xlstm_layer(Draft& d, std::int64_t, Layer& layer) {
  const Keys& k = d.keys;
  const auto scaled = [&](std::string_view name, double otherwise) {
    const double factor = k.number({name}).value_or(otherwise);
    if (!(factor > 0 && factor < 64)) k.refuse({name}, "out of range");
    return static_cast<std::int64_t>(factor * static_cast<double>(d.hidden));
  };
  const std::int64_t keys = scaled("qk_dim_factor", 0.5), values = scaled("v_dim_factor", 1),
                     inner = round_up(scaled("ffn_proj_factor", 2.667),
                                      k.count_or({"ffn_round_up_to_multiple_of"}, 64));
  if (keys % d.heads != 0 || values % d.heads != 0)
    k.refuse({"num_heads"}, "does not divide the widths of keys and values");
  if (k.flag({"use_bias"})) k.refuse({"use_bias"}, "kv-plan knows xLSTM without biases only");
  if (k.text({"weight_mode"}, "single") != "single")
    k.refuse({"weight_mode"}, "kv-plan knows separate projections only");
  k.pass_over({"add_out_norm",
               "add_qk_norm",
               "add_post_norm",
               "add_post_blocks_norm",
               "chunk_size",
               "chunkwise_kernel",
               "head_dim",
               "inference_state_dtype",
               "max_inference_chunksize",
               "mlstm_round_up_to_multiple_of",
               "step_kernel",
               "sequence_kernel",
               "igate_bias_init_range",
               "add_embedding_dropout",
               "add_forward_backend_padding",
               "autocast_kernel_dtype",
               "gate_soft_cap",
               "mode",
               "norm_reduction_force_float32",
               "force_bos_token_insert"});
  Recurrent r;
  r.kind = Recurrent::lightning;
  r.k_heads = r.v_heads = d.heads;
  r.k_width = 1;
  r.v_width = keys / d.heads * (values / d.heads + 1) + 1;
  layer.mixer.kind = r;
  for (const std::string_view name : {"mlstm_layer.q", "mlstm_layer.k"})
    add_state_matrix(d, layer, name, keys);
  for (const std::string_view name : {"mlstm_layer.v", "mlstm_layer.ogate_preact"})
    add_state_matrix(d, layer, name, values);
  for (const std::string_view name : {"mlstm_layer.igate_preact", "mlstm_layer.fgate_preact"})
    add_state_matrix(d, layer, name, d.heads);
  Weights& w = layer.weights;
  add_vector(w, "mlstm_layer.gate_preact.bias", Role::state, 2 * d.heads);
  add_vector(w, "mlstm_layer.multihead_norm", Role::norm, values);
  add_matrix(w, "mlstm_layer.out_proj", Role::state, d.hidden, values);
  add_feed_forward(d, w, Role::mlp, inner, d.hidden);
  add_layer_norms(d, layer);
}

// RWKV-4: time mixing keeps three rows (numerator, denominator, maximum) in fp32, and each half of
// a layer its last input.
void rwkv_widths(Draft& d) {
  d.inner = d.keys.count_or({"intermediate_size"}, 4 * d.hidden);
  if (const auto context = d.keys.integer({"context_length"}, 1, Keys::kMostTokens))
    d.model.max_context = Tokens(*context);
  d.keys.pass_over({"rescale_every"});
}

void rwkv_layer(Draft& d, std::int64_t i, Layer& layer) {
  const std::int64_t width = d.keys.count_or({"attention_hidden_size"}, d.hidden);
  Recurrent r;
  r.kind = Recurrent::rwkv;
  r.k_heads = 1;
  r.v_heads = width;
  r.k_width = 3;
  r.v_width = 1;
  r.taps = 3;  // two rows: one of either half
  r.conv_channels = d.hidden;
  layer.mixer.kind = r;
  for (const std::string_view name : {"attention.key", "attention.value", "attention.receptance"})
    add_state_matrix(d, layer, name, width);
  Weights& w = layer.weights;
  add_matrix(w, "attention.output", Role::state, d.hidden, width);
  add_vector(w, "attention.time", Role::state, 2 * width + 3 * d.hidden);
  add_matrix(w, "feed_forward.key", Role::mlp, d.inner, d.hidden);
  add_matrix(w, "feed_forward.receptance", Role::mlp, d.hidden, d.hidden);
  add_matrix(w, "feed_forward.value", Role::mlp, d.hidden, d.inner);
  add_vector(w, "feed_forward.time_mix", Role::mlp, 2 * d.hidden);
  if (i == 0) add_norm(d, w, "pre_ln", d.hidden);
  add_layer_norms(d, layer);
}

}  // namespace kvplan::huggingface
