// SPDX-License-Identifier: Apache-2.0
// Projections of attention with heads (MHA, GQA, MQA), their biases and norms.
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

void add_biases(const Draft& d, Layer& layer, const Attention& a, std::int64_t q_rows) {
  const bool asked = d.keys.flag({"attention_bias", "use_bias"}),
             on_inputs = d.keys.flag({"add_qkv_bias", "use_qkv_bias", "qkv_bias"});
  Weights& w = layer.weights;
  if (d.family.qkv_bias || asked || on_inputs) {
    add_vector(w, "self_attn.q_proj.bias", Role::attention, q_rows, Sharding::split);
    add_vector(w, "self_attn.k_proj.bias", Role::attention, a.kv_heads * a.k_width,
               Sharding::kv_heads);
    add_vector(w, "self_attn.v_proj.bias", Role::attention, a.kv_heads * a.v_width,
               Sharding::kv_heads);
  }
  const bool o_asked =
      d.keys.flag({"attention_out_bias", "use_o_bias"}, asked && d.family.bias_reaches_o);
  if (d.family.o_bias || o_asked) add_vector(w, "self_attn.o_proj.bias", Role::attention, d.hidden);
}

void add_qk_norms(const Draft& d, Layer& layer, const Attention& a) {
  Family::QkNorm kind = d.family.qk_norm;
  if (!d.keys.flag({"use_qk_norm", "qk_layernorm"}, !d.family.qk_norm_on_request)) return;
  const std::string said = d.keys.text({"qk_norm_type"});
  if (said == "per_layer" || said == "olmo") kind = Family::per_layer;
  if (said == "per_head") kind = Family::per_head;
  if (kind == Family::no_qk_norm) return;
  const std::int64_t q_heads = kind == Family::per_layer ? a.heads : 1,
                     k_heads = kind == Family::per_layer ? a.kv_heads : 1;
  add_vector(layer.weights, "self_attn.q_norm", Role::norm, q_heads * a.k_width);
  add_vector(layer.weights, "self_attn.k_norm", Role::norm, k_heads * a.k_width);
}

}  // namespace

Attention attention_shape(const Draft& d) {
  Attention a;
  a.heads = d.heads;
  a.kv_heads = d.kv_heads;
  a.k_width = d.head_dim;
  const auto v_width = d.keys.integer({"v_head_dim"});  // 0 where MLA is off (DeepSeek-VL2 tiny)
  a.v_width = v_width && *v_width > 0 ? *v_width : d.head_dim;
  return a;
}

// transformers v5 lists what differs in a layer under its index, with leading zeros.
std::optional<Keys> own_keys(const Draft& d, std::int64_t i) {
  const auto all = d.keys.if_inside({"per_layer_config"});
  if (!all) return std::nullopt;
  const std::string index = std::to_string(i);
  for (const std::string& name : {index, "0" + index, "00" + index})
    if (auto own = all->if_inside({std::string_view(name)})) return own;
  return std::nullopt;
}

void add_heads(Draft& d, Layer& layer, const Attention& a, Reach reach) {
  layer.mixer.kind = a;
  layer.mixer.reach = {reach};
  const bool gate = d.keys.flag({"attn_output_gate"}, d.family.output_gate);
  const std::int64_t q_rows = a.heads * a.k_width * (gate ? 2 : 1);
  Weights& w = layer.weights;
  add_matrix(w, "self_attn.q_proj", Role::attention, q_rows, d.hidden);
  add_matrix(w, "self_attn.k_proj", Role::attention, a.kv_heads * a.k_width, d.hidden,
             Sharding::kv_heads);
  add_matrix(w, "self_attn.v_proj", Role::attention, a.kv_heads * a.v_width, d.hidden,
             Sharding::kv_heads);
  add_matrix(w, "self_attn.o_proj", Role::attention, d.hidden, a.heads * a.v_width);
  if (d.family.head_gate && d.keys.flag({"use_attention_gate"}, true))
    add_matrix(w, "self_attn.g_proj", Role::attention, a.heads, d.hidden);
  if (d.family.sinks) add_vector(w, "self_attn.sinks", Role::attention, a.heads);
  add_biases(d, layer, a, q_rows);
  add_qk_norms(d, layer, a);
}

void add_attention(Draft& d, std::int64_t i, Layer& layer) {
  if (d.keys.flag({"use_cla"}))  // layers that share keys and values (Hunyuan-Large)
    d.keys.refuse({"use_cla"}, "kv-plan does not know which layers share a cache here");
  d.keys.pass_over({"cla_share_factor"});
  if (d.keys.has({"kv_lora_rank"}) && d.keys.flag({"use_mla"}, true))
    return add_latent_attention(d, i, layer);
  // Of no effect without latents (DeepSeek-VL2 tiny).
  d.keys.pass_over({"qk_nope_head_dim", "qk_rope_head_dim", "q_lora_rank", "use_mla"});
  add_heads(d, layer, attention_shape(d), reach_of(d, i));
}

}  // namespace kvplan::huggingface
