// SPDX-License-Identifier: Apache-2.0
// Recurrent mixers: Mamba (Gu, Dao 2023), Mamba-2 (Dao, Gu 2024), gated delta net (Yang et al.
// 2024), Kimi delta attention (Kimi Linear report 2025), gated short convolution (LFM2).
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

// The recurrent state is kept in 32 bits unless the configuration says otherwise; the convolution
// tail in 16.
const Format* state_format(const Draft& d) {
  return &format_named(d.keys.text({"mamba_ssm_cache_dtype", "mamba_ssm_dtype"}, "float32"));
}

void matrix(Layer& layer, std::string_view name, std::int64_t rows, std::int64_t columns,
            Sharding sharding = Sharding::split) {
  add_matrix(layer.weights, name, Role::state, rows, columns, sharding);
}
void vector(Layer& layer, std::string_view name, std::int64_t elements) {
  add_vector(layer.weights, name, Role::state, elements);
}

}  // namespace

void add_gated_delta_net(Draft& d, Layer& layer) {
  const Keys& k = d.keys;
  Recurrent r;
  r.kind = Recurrent::gated_delta_net;
  r.k_heads = k.count({"linear_num_key_heads"});
  r.v_heads = k.count({"linear_num_value_heads"});
  r.k_width = k.count({"linear_key_head_dim"});
  r.v_width = k.count({"linear_value_head_dim"});
  r.taps = k.count({"linear_conv_kernel_dim"});
  const std::int64_t keys = r.k_heads * r.k_width, values = r.v_heads * r.v_width;
  r.conv_channels = 2 * keys + values;
  r.state_format = state_format(d);
  layer.mixer.kind = r;
  matrix(layer, "linear_attn.in_proj_qkvz", 2 * keys + 2 * values, d.hidden);
  matrix(layer, "linear_attn.in_proj_ba", 2 * r.v_heads, d.hidden);
  vector(layer, "linear_attn.conv1d", r.conv_channels * r.taps);
  vector(layer, "linear_attn.A_log", r.v_heads);
  vector(layer, "linear_attn.dt_bias", r.v_heads);
  vector(layer, "linear_attn.norm", r.v_width);
  matrix(layer, "linear_attn.out_proj", d.hidden, values);
}

void add_kda(Draft& d, Layer& layer) {
  const Node* config = d.keys.find({"linear_attn_config"});
  if (!config)
    throw Error("the configuration lacks a key that kv-plan needs").of("linear_attn_config");
  const Keys k(*config);
  Recurrent r;
  r.kind = Recurrent::kda;
  r.k_heads = r.v_heads = k.count({"num_heads"});
  r.k_width = r.v_width = k.count({"head_dim"});
  r.taps = k.count({"short_conv_kernel_size"});
  const std::int64_t width = r.v_heads * r.v_width;
  r.conv_channels = 3 * width;
  r.state_format = &format_named("fp32");
  layer.mixer.kind = r;
  for (const std::string_view name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"})
    matrix(layer, name, width, d.hidden);
  vector(layer, "self_attn.conv1d", r.conv_channels * r.taps);
  vector(layer, "self_attn.A_log", r.v_heads);
  vector(layer, "self_attn.dt_bias", width);
  matrix(layer, "self_attn.f_a_proj", r.v_width, d.hidden, Sharding::replicated);
  matrix(layer, "self_attn.f_b_proj", width, r.v_width);
  matrix(layer, "self_attn.b_proj", r.v_heads, d.hidden);
  if (k.flag({"use_full_rank_gate"})) {
    matrix(layer, "self_attn.g_proj", width, d.hidden);
  } else {
    matrix(layer, "self_attn.g_a_proj", r.v_width, d.hidden, Sharding::replicated);
    matrix(layer, "self_attn.g_b_proj", width, r.v_width);
  }
  vector(layer, "self_attn.o_norm", r.v_width);
  matrix(layer, "self_attn.o_proj", d.hidden, width);
}

void add_mamba2(Draft& d, Layer& layer) {
  const Keys& k = d.keys;
  Recurrent r;
  r.kind = Recurrent::mamba2;
  r.v_heads = k.count({"mamba_num_heads", "mamba_n_heads"});
  r.v_width = k.count({"mamba_head_dim", "mamba_d_head"});
  r.k_width = k.count({"ssm_state_size", "mamba_d_state"});
  r.k_heads = k.count_or({"n_groups", "mamba_n_groups"}, 1);
  r.taps = k.count({"conv_kernel", "mamba_d_conv"});
  const std::int64_t inner = r.v_heads * r.v_width;
  r.conv_channels = inner + 2 * r.k_heads * r.k_width;
  r.state_format = state_format(d);
  layer.mixer.kind = r;
  matrix(layer, "mixer.in_proj", inner + r.conv_channels + r.v_heads, d.hidden);
  vector(layer, "mixer.conv1d", r.conv_channels * r.taps);
  if (k.flag({"use_conv_bias", "mamba_conv_bias"}, true))
    vector(layer, "mixer.conv1d.bias", r.conv_channels);
  for (const std::string_view name : {"mixer.A_log", "mixer.D", "mixer.dt_bias"})
    vector(layer, name, r.v_heads);
  vector(layer, "mixer.norm", inner);
  matrix(layer, "mixer.out_proj", d.hidden, inner);
}

void add_mamba1(Draft& d, Layer& layer) {
  const Keys& k = d.keys;
  Recurrent r;
  r.kind = Recurrent::mamba1;
  const std::int64_t expand = k.count_or({"mamba_expand", "expand"}, 2);
  const std::int64_t inner = checked_mul(expand, d.hidden);
  r.k_heads = 1;
  r.v_heads = inner;
  r.v_width = 1;
  r.k_width = k.count({"state_size", "mamba_d_state"});
  r.taps = k.count({"conv_kernel", "mamba_d_conv"});
  r.conv_channels = inner;
  r.state_format = state_format(d);
  layer.mixer.kind = r;
  const Node* rank_key = k.find({"time_step_rank", "mamba_dt_rank"});
  const bool automatic = !rank_key || rank_key->quoted;  // "auto"
  const std::int64_t rank =
      automatic ? ceil_div(d.hidden, 16) : k.count({"time_step_rank", "mamba_dt_rank"});
  matrix(layer, "mixer.in_proj", 2 * inner, d.hidden);
  vector(layer, "mixer.conv1d", inner * r.taps);
  if (k.flag({"use_conv_bias", "mamba_conv_bias"}, true)) vector(layer, "mixer.conv1d.bias", inner);
  matrix(layer, "mixer.x_proj", rank + 2 * r.k_width, inner);
  matrix(layer, "mixer.dt_proj", inner, rank);
  vector(layer, "mixer.dt_proj.bias", inner);
  vector(layer, "mixer.A_log", inner * r.k_width);
  vector(layer, "mixer.D", inner);
  matrix(layer, "mixer.out_proj", d.hidden, inner);
  if (d.family.model_type == "jamba") {  // norms on dt, B and C
    add_vector(layer.weights, "mixer.dt_layernorm", Role::norm, rank);
    add_vector(layer.weights, "mixer.b_layernorm", Role::norm, r.k_width);
    add_vector(layer.weights, "mixer.c_layernorm", Role::norm, r.k_width);
  }
}

void add_short_conv(Draft& d, Layer& layer) {
  Recurrent r;
  r.kind = Recurrent::short_conv;
  r.v_heads = r.k_heads = 1;
  r.taps = d.keys.count({"conv_L_cache"});
  r.conv_channels = d.hidden;
  layer.mixer.kind = r;
  matrix(layer, "conv.in_proj", 3 * d.hidden, d.hidden);
  vector(layer, "conv.conv", d.hidden * r.taps);
  matrix(layer, "conv.out_proj", d.hidden, d.hidden);
}

}  // namespace kvplan::huggingface
