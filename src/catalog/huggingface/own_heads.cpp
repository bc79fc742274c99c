// SPDX-License-Identifier: Apache-2.0
// Decoders whose layers have heads of their own number: Step 3.5 and 3.7, Laguna, MiMo-V2; and
// Step 3, whose queries pass a shared narrow row. Sources: huggingface/transformers v5 and vLLM's
// step3_text.py.
#include <algorithm>

#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

void require_groups(const Draft& d, const Attention& a, Names names) {
  if (a.heads % a.kv_heads != 0)
    d.keys.refuse(names, "heads of a layer are not a multiple of its KV heads");
}

// A gate for each head, or for each number that the heads put out.
void add_gate(Draft& d, Layer& layer, std::int64_t rows) {
  add_matrix(layer.weights, "self_attn.g_proj", Role::attention, rows, d.hidden);
}

// What `attention_other_setting` changes in sliding layers.
Attention sliding_shape(const Draft& d) {
  Attention a = attention_shape(d);
  const auto other = d.keys.if_inside({"attention_other_setting"});
  a.heads = d.keys.count_or({"num_sliding_attention_heads"}, a.heads);
  if (!other) return a;
  other->pass_over({"attention_type", "true_head_dim"});
  a.heads = other->count_or({"num_attention_heads"}, a.heads);
  a.kv_heads = other->count_or({"num_attention_groups", "num_key_value_heads"}, a.kv_heads);
  a.k_width = a.v_width = other->count_or({"head_dim"}, a.k_width);
  return a;
}

// Norms of queries and keys and a gate stand in the code, whatever `use_qk_norm` says.
void add_step_attention(Draft& d, Layer& layer, const Attention& a, Reach reach) {
  require_groups(d, a, {"attention_other_setting", "num_sliding_attention_heads"});
  add_heads(d, layer, a, reach);
  for (const std::string_view name : {"self_attn.q_norm", "self_attn.k_norm"})
    add_vector(layer.weights, name, Role::norm, a.k_width);
  d.keys.pass_over({"use_moe_router_bias", "need_fp32_gate", "gating", "zero_centered",
                    "moe_every_n_layer", "use_moe", "att_impl_type", "use_qk_norm",
                    "yarn_only_types", "partial_rotary_factors", "moe_layer_offset", "sink"});
  if (d.keys.flag({"use_head_wise_attn_gate"}, true)) add_gate(d, layer, a.heads);
}

}  // namespace

void step3p5_layer(Draft& d, std::int64_t i, Layer& layer) {
  const Reach reach = reach_of(d, i);
  const Attention other = sliding_shape(d);
  Attention a = std::holds_alternative<Window>(reach) ? other : attention_shape(d);
  if (const auto own = own_keys(d, i)) a.heads = own->count_or({"num_attention_heads"}, a.heads);
  add_step_attention(d, layer, a, reach);
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

// Slides, without experts, and with a head of its own: three of them make stepfun-ai/Step-3.5-Flash
// a file of 199,384,301,376.
void step3p5_mtp_layer(Draft& d, std::int64_t, Layer& layer) {
  add_step_attention(d, layer, sliding_shape(d), Window{Tokens(d.keys.count({"sliding_window"}))});
  add_feed_forward(d, layer.weights, Role::mlp, d.inner, d.hidden);
  add_layer_norms(d, layer);
  add_matrix(layer.weights, "shared_head.output", Role::head, d.vocabulary, d.hidden);
}

void laguna_layer(Draft& d, std::int64_t i, Layer& layer) {
  Attention a = attention_shape(d);
  constexpr std::string_view kHeads[] = {"num_attention_heads_per_layer"};
  a.heads = d.keys.entry_integer(kHeads, i).value_or(a.heads);
  if (a.heads < 1) d.keys.refuse(kHeads, "a layer has no heads");
  require_groups(d, a, kHeads);
  add_heads(d, layer, a, reach_of(d, i));
  const Node* gating = d.keys.find({"gating"});
  const std::string kind = gating ? gating->text : "true";
  if (kind == "true" || kind == "per-head")
    add_gate(d, layer, a.heads);
  else
    add_gate(d, layer, a.heads * a.v_width);
  d.keys.pass_over({"swa_attention_sink_enabled", "moe_router_logit_softcapping"});
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

// Queries come from a row of `share_q_dim`, normed; one head of keys and values serves them all.
void step3_layer(Draft& d, std::int64_t i, Layer& layer) {
  const std::int64_t row = d.keys.count_or({"share_q_dim"}, d.hidden);
  Attention a = attention_shape(d);
  a.kv_heads = 1;
  layer.mixer.kind = a;
  layer.mixer.reach = {All{}};
  d.keys.pass_over(
      {"num_attention_groups", "norm_expert_weight", "moe_layer_offset", "max_position_embedding"});
  Weights& w = layer.weights;
  add_matrix(w, "self_attn.q_proj", Role::attention, row, d.hidden, Sharding::replicated);
  add_vector(w, "self_attn.inter_norm", Role::norm, row);
  add_matrix(w, "self_attn.wq", Role::attention, a.heads * a.k_width, row);
  add_matrix(w, "self_attn.k_proj", Role::attention, a.k_width, d.hidden, Sharding::kv_heads);
  add_matrix(w, "self_attn.v_proj", Role::attention, a.v_width, d.hidden, Sharding::kv_heads);
  add_matrix(w, "self_attn.o_proj", Role::attention, d.hidden, a.heads * a.v_width);
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

// DeciLM: KV heads of each layer's own number.
void decilm_layer(Draft& d, std::int64_t i, Layer& layer) {
  constexpr std::string_view kHeads[] = {"num_key_value_heads_per_layer"};
  Attention a = attention_shape(d);
  a.kv_heads = d.keys.entry_integer(kHeads, i).value_or(a.kv_heads);
  if (a.kv_heads < 1) d.keys.refuse(kHeads, "a layer has no heads");
  require_groups(d, a, kHeads);
  add_heads(d, layer, a, All{});
  add_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

namespace {

// A multiple of `divisor` near `wanted`, and at least nine tenths of it.
std::int64_t near_multiple(double wanted, std::int64_t divisor) {
  const auto nearest = static_cast<std::int64_t>(wanted + static_cast<double>(divisor) / 2);
  std::int64_t n = std::max(divisor, nearest / divisor * divisor);
  if (static_cast<double>(n) < 0.9 * wanted) n += divisor;
  return n;
}

}  // namespace

// OpenELM (Mehta et al. 2024): heads and feed-forwards widen from layer to layer.
void openelm_layer(Draft& d, std::int64_t i, Layer& layer) {
  const Keys& k = d.keys;
  Attention a = attention_shape(d);
  a.heads = k.entry_integer({"num_query_heads"}, i).value_or(0);
  a.kv_heads = k.entry_integer({"num_kv_heads"}, i).value_or(0);
  if (a.heads < 1 || a.kv_heads < 1) k.refuse({"num_query_heads"}, "a layer has no heads");
  require_groups(d, a, {"num_query_heads"});
  const Node* multiple = k.entry({"ffn_multipliers"}, i);
  const double wanted = multiple ? multiple->number().value_or(0) : 0;
  if (!(wanted > 0 && wanted < 64)) k.refuse({"ffn_multipliers"}, "out of range");
  if (!k.flag({"ffn_with_glu"}, true)) k.refuse({"ffn_with_glu"}, "kv-plan knows it gated only");
  add_heads(d, layer, a, All{});
  if (k.flag({"normalize_qk_projections"}))
    add_vector(layer.weights, "self_attn.qk_norms", Role::norm, 2 * a.k_width);
  const std::int64_t inner =
      near_multiple(wanted * static_cast<double>(d.hidden), k.count_or({"ffn_dim_divisor"}, 256));
  add_feed_forward(d, layer.weights, Role::mlp, inner, d.hidden);
  add_layer_norms(d, layer);
  k.pass_over({"activation_fn_name", "num_gqa_groups", "qkv_multipliers", "rope_max_length",
               "normalization_layer_name"});
}

// MiMo-V2: sliding layers (1 in the pattern) have heads and widths of their own.
void mimo_v2_layer(Draft& d, std::int64_t i, Layer& layer) {
  const Keys& k = d.keys;
  const bool patterned = k.has({"hybrid_layer_pattern"});
  const bool slides = patterned ? k.entry_integer({"hybrid_layer_pattern"}, i).value_or(0) == 1
                                : std::holds_alternative<Window>(reach_of(d, i));
  Attention a = attention_shape(d);
  if (slides) {
    // transformers v5 has twice the KV heads where nothing is said.
    a = {k.count_or({"swa_num_attention_heads"}, a.heads),
         k.count_or({"swa_num_key_value_heads"}, 2 * a.kv_heads),
         k.count_or({"swa_head_dim"}, a.k_width), k.count_or({"swa_v_head_dim"}, a.v_width)};
    require_groups(d, a, {"swa_num_key_value_heads"});
  }
  const std::int64_t window = k.count({"sliding_window_size", "sliding_window"});
  add_heads(d, layer, a, slides ? Reach(Window{Tokens(window)}) : Reach(All{}));
  const bool sinks = k.flag({"add_swa_attention_sink_bias"}, !patterned),
             full_sinks = k.flag({"add_full_attention_sink_bias"});
  k.pass_over({"attention_chunk_size"});  // the training's window, said once more
  if (slides ? sinks : full_sinks)
    add_vector(layer.weights, "self_attn.attention_sink_bias", Role::attention, a.heads);
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

}  // namespace kvplan::huggingface
