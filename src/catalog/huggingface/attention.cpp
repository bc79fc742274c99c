// SPDX-License-Identifier: Apache-2.0
// Projections of attention with heads (MHA, GQA, MQA), their biases and norms.
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

void add_biases(const Draft& d, Layer& layer, const Attention& a, std::int64_t q_rows) {
  const bool asked = d.keys.flag({"attention_bias", "add_qkv_bias", "use_qkv_bias"});
  if (d.family.qkv_bias || asked) {
    add_vector(layer.weights, "self_attn.q_proj.bias", Role::attention, q_rows);
    add_vector(layer.weights, "self_attn.k_proj.bias", Role::attention, a.kv_heads * a.k_width);
    if (!a.v_is_k)
      add_vector(layer.weights, "self_attn.v_proj.bias", Role::attention, a.kv_heads * a.v_width);
  }
  if (d.family.o_bias || (asked && d.family.bias_reaches_o))
    add_vector(layer.weights, "self_attn.o_proj.bias", Role::attention, d.hidden);
}

void add_qk_norms(const Draft& d, Layer& layer, const Attention& a) {
  Family::QkNorm kind = d.family.qk_norm;
  if (d.keys.text({"qk_norm_type"}) == "per_layer") kind = Family::per_layer;
  if (kind == Family::none) return;
  const bool per_layer = kind == Family::per_layer;
  add_vector(layer.weights, "self_attn.q_norm", Role::norm,
             per_layer ? a.heads * a.k_width : a.k_width);
  add_vector(layer.weights, "self_attn.k_norm", Role::norm,
             per_layer ? a.kv_heads * a.k_width : a.k_width);
}

}  // namespace

void add_heads(Draft& d, Layer& layer, const Attention& a, Reach reach) {
  layer.mixer.kind = a;
  layer.mixer.reach = {reach};
  // A gated output doubles the query projection (Qwen3-Next, Qwen3.5).
  const bool gate = d.keys.flag({"attn_output_gate"}) || d.family.model_type == "qwen3_next";
  const std::int64_t q_rows = checked_mul(checked_mul(a.heads, a.k_width), gate ? 2 : 1);
  Weights& w = layer.weights;
  add_matrix(w, "self_attn.q_proj", Role::attention, q_rows, d.hidden);
  add_matrix(w, "self_attn.k_proj", Role::attention, a.kv_heads * a.k_width, d.hidden,
             Sharding::kv_heads);
  if (!a.v_is_k)
    add_matrix(w, "self_attn.v_proj", Role::attention, a.kv_heads * a.v_width, d.hidden,
               Sharding::kv_heads);
  add_matrix(w, "self_attn.o_proj", Role::attention, d.hidden, a.heads * a.v_width);
  add_biases(d, layer, a, q_rows);
  add_qk_norms(d, layer, a);
}

void add_attention(Draft& d, std::int64_t i, Layer& layer) {
  if (d.keys.integer({"kv_lora_rank"}) && d.keys.flag({"use_mla"}, true))
    return add_latent_attention(d, i, layer);
  d.keys.find({"qk_nope_head_dim", "qk_rope_head_dim", "q_lora_rank"});  // of no effect here
  Attention a;
  a.heads = d.heads;
  a.kv_heads = d.kv_heads;
  a.k_width = d.head_dim;
  const std::int64_t v_width =
      d.keys.integer({"v_head_dim"}).value_or(0);  // 0 where MLA is off (DeepSeek-VL2 tiny)
  a.v_width = v_width > 0 ? v_width : d.head_dim;
  add_heads(d, layer, a, reach_of(d, i));
}

}  // namespace kvplan::huggingface
