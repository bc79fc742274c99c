// SPDX-License-Identifier: Apache-2.0
// Recurrent mixers: Mamba (Gu, Dao 2023), Mamba-2 (Dao, Gu 2024), gated delta net (Yang et al.
// 2024), Kimi delta attention (Kimi Linear report 2025), gated short convolution (LFM2).
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

// Where the configuration does not say, every engine has its own.
const Format* state_format(const Draft& d) {
  const std::string said = d.keys.text({"mamba_ssm_cache_dtype", "mamba_ssm_dtype"});
  return said.empty() ? nullptr : &format_named(said);
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
  if (r.v_heads % r.k_heads != 0)
    k.refuse({"linear_num_value_heads"}, "value heads are not a multiple of the key heads");
  r.conv_channels = 2 * keys + values;
  r.state_format = state_format(d);
  layer.mixer.kind = r;
  matrix(layer, "linear_attn.in_proj_qkv", 2 * keys + values, d.hidden);
  matrix(layer, "linear_attn.in_proj_z", values, d.hidden);
  matrix(layer, "linear_attn.in_proj_b", r.v_heads, d.hidden);
  matrix(layer, "linear_attn.in_proj_a", r.v_heads, d.hidden);
  vector(layer, "linear_attn.conv1d", product(r.conv_channels, r.taps));
  vector(layer, "linear_attn.A_log", r.v_heads);
  vector(layer, "linear_attn.dt_bias", r.v_heads);
  vector(layer, "linear_attn.norm", r.v_width);
  matrix(layer, "linear_attn.out_proj", d.hidden, values);
}

void add_kda(Draft& d, Layer& layer, bool full_rank) {
  // transformers v5 takes the keys out of their map.
  const auto inner = d.keys.if_inside({"linear_attn_config"});
  const Keys& k = inner ? *inner : d.keys;
  Recurrent r;
  r.kind = Recurrent::kda;
  r.k_heads = r.v_heads = k.count({"linear_num_heads", "num_heads", "num_attention_heads"});
  r.k_width = r.v_width = k.count({"linear_head_dim", "head_dim"});
  r.taps = k.count({"linear_conv_kernel_dim", "short_conv_kernel_size"});
  const std::int64_t width = r.v_heads * r.v_width;
  r.conv_channels = 3 * width;
  r.state_format = &format_named("fp32");
  layer.mixer.kind = r;
  for (const std::string_view name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"})
    matrix(layer, name, width, d.hidden);
  vector(layer, "self_attn.conv1d", product(r.conv_channels, r.taps));
  vector(layer, "self_attn.A_log", r.v_heads);
  vector(layer, "self_attn.dt_bias", width);
  if (full_rank) {
    matrix(layer, "self_attn.f_proj", width, d.hidden);
  } else {
    matrix(layer, "self_attn.f_a_proj", r.v_width, d.hidden, Sharding::replicated);
    matrix(layer, "self_attn.f_b_proj", width, r.v_width);
  }
  matrix(layer, "self_attn.b_proj", r.v_heads, d.hidden);
  if (full_rank || k.flag({"use_full_rank_gate"})) {
    matrix(layer, "self_attn.g_proj", width, d.hidden);
  } else {
    matrix(layer, "self_attn.g_a_proj", r.v_width, d.hidden, Sharding::replicated);
    matrix(layer, "self_attn.g_b_proj", width, r.v_width);
  }
  vector(layer, "self_attn.o_norm", r.v_width);
  matrix(layer, "self_attn.o_proj", d.hidden, width);
}

namespace {

// Of the convolution and of the input and output projections.
void add_mamba_biases(Draft& d, Layer& layer, const Recurrent& r, std::int64_t in_rows) {
  if (d.keys.flag({"use_conv_bias", "mamba_conv_bias"}, true))
    vector(layer, "mixer.conv1d.bias", r.conv_channels);
  if (!d.keys.flag({"mamba_proj_bias", "use_bias"})) return;
  vector(layer, "mixer.in_proj.bias", in_rows);
  vector(layer, "mixer.out_proj.bias", d.hidden);
}

// Zamba2 may leave it out.
std::int64_t mamba2_head_width(const Draft& d, std::int64_t heads) {
  const auto said = d.keys.integer({"mamba_head_dim", "mamba_d_head", "mamba_headdim"}, 1);
  return said ? *said : d.keys.count({"mamba_expand"}) * d.hidden / heads;
}

}  // namespace

Recurrent add_mamba2(Draft& d, Layer& layer) {
  const Keys& k = d.keys;
  Recurrent r;
  r.kind = Recurrent::mamba2;
  const bool pure =
      k.has({"state_size"}) &&
      !k.has({"n_mamba_heads", "mamba_n_heads"});  // Mamba-2 alone: its heads are the model's
  r.v_heads = pure ? k.count({"num_heads"})
                   : k.count({"mamba_num_heads", "mamba_n_heads", "n_mamba_heads"});
  r.v_width = pure ? k.count({"head_dim"}) : mamba2_head_width(d, r.v_heads);
  r.k_width = k.count({"ssm_state_size", "mamba_d_state", "state_size"});
  r.k_heads = k.count_or({"n_groups", "mamba_n_groups", "mamba_ngroups"}, 1);
  r.taps = k.count({"conv_kernel", "mamba_d_conv"});
  k.pass_over({"expand", "mamba_expand", "mamba_d_ssm", "chunk_size", "mamba_chunk_size",
               "time_step_rank"});
  const std::int64_t inner = r.v_heads * r.v_width;
  r.conv_channels = inner + 2 * r.k_heads * r.k_width;
  r.state_format = state_format(d);
  const std::int64_t in_rows = inner + r.conv_channels + r.v_heads;
  matrix(layer, "mixer.in_proj", in_rows, d.hidden);
  vector(layer, "mixer.conv1d", product(r.conv_channels, r.taps));
  add_mamba_biases(d, layer, r, in_rows);
  for (const std::string_view name : {"mixer.A_log", "mixer.D", "mixer.dt_bias"})
    vector(layer, name, r.v_heads);
  if (k.flag({"mamba_rms_norm"}, true)) vector(layer, "mixer.norm", inner);
  matrix(layer, "mixer.out_proj", d.hidden, inner);
  return r;
}

std::int64_t time_step_rank(const Draft& d) {
  const Node* said = d.keys.find({"time_step_rank", "mamba_dt_rank"});
  const bool automatic = !said || said->text == "auto";
  return automatic ? ceil_div(d.hidden, 16) : d.keys.count({"time_step_rank", "mamba_dt_rank"});
}

Recurrent add_mamba1(Draft& d, Layer& layer, std::int64_t inner) {
  const Keys& k = d.keys;
  Recurrent r;
  r.kind = Recurrent::mamba1;
  r.k_heads = 1;
  r.v_heads = inner;
  r.v_width = 1;
  r.k_width = k.count({"state_size", "mamba_d_state"});
  r.taps = k.count({"conv_kernel", "mamba_d_conv"});
  r.conv_channels = inner;
  r.state_format = state_format(d);
  const std::int64_t rank = time_step_rank(d);
  matrix(layer, "mixer.in_proj", 2 * inner, d.hidden);
  vector(layer, "mixer.conv1d", product(inner, r.taps));
  add_mamba_biases(d, layer, r, 2 * inner);
  matrix(layer, "mixer.x_proj", rank + 2 * r.k_width, inner);
  matrix(layer, "mixer.dt_proj", inner, rank);
  vector(layer, "mixer.dt_proj.bias", inner);
  vector(layer, "mixer.A_log", product(inner, r.k_width));
  vector(layer, "mixer.D", inner);
  matrix(layer, "mixer.out_proj", d.hidden, inner);
  return r;
}

void add_short_conv(Draft& d, Layer& layer) {
  Recurrent r;
  r.kind = Recurrent::short_conv;
  r.v_heads = r.k_heads = 1;
  r.taps = d.keys.count({"conv_L_cache"});
  r.conv_channels = d.hidden;
  d.keys.pass_over({"conv_dim", "conv_dim_out", "conv_use_xavier_init"});
  layer.mixer.kind = r;
  matrix(layer, "conv.in_proj", 3 * d.hidden, d.hidden);
  vector(layer, "conv.conv", product(d.hidden, r.taps));
  matrix(layer, "conv.out_proj", d.hidden, d.hidden);
  if (!d.keys.flag({"conv_bias"})) return;
  vector(layer, "conv.conv.bias", d.hidden);
  vector(layer, "conv.in_proj.bias", 3 * d.hidden);
  vector(layer, "conv.out_proj.bias", d.hidden);
}

}  // namespace kvplan::huggingface
