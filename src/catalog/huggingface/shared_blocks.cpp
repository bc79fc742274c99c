// SPDX-License-Identifier: Apache-2.0
// Zamba (Glorioso et al. 2024) and Zamba2: Mamba in every layer; some layers first pass a
// transformer block that they share, over the hidden row beside the token's embedding.
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

bool is_hybrid(const Draft& d, std::int64_t i) {
  const auto type = d.keys.entry_text({"layers_block_type", "layer_types"}, i);
  d.keys.pass_over({"hybrid_layer_ids"});
  const std::int64_t period = d.keys.count_or({"attn_layer_period"}, 6),
                     offset = d.keys.integer({"attn_layer_offset"}).value_or(4);
  if (!type) return i == 2 || (i > 2 && (i - 3) % period == offset);
  if (*type != "hybrid" && *type != "mamba" && *type != "linear_attention")
    d.keys.refuse({"layers_block_type"}, "kv-plan does not know '" + *type + "'");
  return *type == "hybrid";
}

std::int64_t hybrids_before(const Draft& d, std::int64_t i) {
  std::int64_t n = 0;
  for (std::int64_t j = 0; j < i; ++j) n += is_hybrid(d, j);
  return n;
}

// Twice the hidden width goes in, the hidden width comes out.
void add_shared_block(Draft& d, Layer& layer, const Attention& a) {
  const std::int64_t wide = 2 * d.hidden, q = a.heads * a.k_width, kv = a.kv_heads * a.k_width;
  Weights& w = layer.weights;
  add_matrix(w, "self_attn.q_proj", Role::attention, q, wide);
  add_matrix(w, "self_attn.k_proj", Role::attention, kv, wide);
  add_matrix(w, "self_attn.v_proj", Role::attention, kv, wide);
  add_matrix(w, "self_attn.o_proj", Role::attention, d.hidden, q);
  add_feed_forward(d, w, Role::mlp, d.inner, d.hidden);
  add_norm(d, w, "shared_transformer.input_layernorm", wide);
  add_norm(d, w, "shared_transformer.pre_ff_layernorm", d.hidden);
}

Attention shared_shape(const Draft& d) {
  Attention a = attention_shape(d);
  d.keys.pass_over({"attention_hidden_size", "kv_channels", "num_query_groups"});
  a.k_width = a.v_width = d.keys.count_or({"attention_head_dim"}, 2 * d.hidden / a.heads);
  return a;
}

// A use of the shared block brings a projection of its own.
void add_use(Draft& d, std::int64_t i, Layer& layer, std::int64_t blocks) {
  const Attention a = shared_shape(d);
  layer.mixer.kind = a;
  layer.mixer.reach = {All{}};
  if (hybrids_before(d, i) < blocks) add_shared_block(d, layer, a);
  add_matrix(layer.weights, "linear", Role::attention, d.hidden, d.hidden);
}

// Zamba2's uses adapt the block by low-rank products.
void add_adapters(Draft& d, Layer& layer) {
  const std::int64_t rank = d.keys.count_or({"adapter_rank", "lora_rank"}, 128),
                     wide = 2 * d.hidden;
  d.keys.pass_over({"use_shared_mlp_adapter"});
  Weights& w = layer.weights;
  add_matrix(w, "gate_up_proj_adapter.0", Role::mlp, rank, d.hidden);
  add_matrix(w, "gate_up_proj_adapter.1", Role::mlp, 2 * d.inner, rank);
  if (!d.keys.flag({"use_shared_attention_adapter"})) return;
  for (const std::string_view name : {"linear_q_adapter", "linear_k_adapter", "linear_v_adapter"}) {
    add_matrix(w, name, Role::attention, rank, wide);
    add_matrix(w, name, Role::attention, wide, rank);
  }
}

void put_mamba(Layer& layer, const Recurrent& r) {
  if (std::holds_alternative<std::monostate>(layer.mixer.kind))
    layer.mixer.kind = r;
  else
    layer.mixer.beside = r;
}

}  // namespace

void zamba_layer(Draft& d, std::int64_t i, Layer& layer) {
  if (is_hybrid(d, i)) add_use(d, i, layer, 1);
  d.keys.pass_over({"n_mamba_heads", "hidden_mamba_act", "use_associative_scan"});
  put_mamba(layer, add_mamba1(d, layer, d.keys.count_or({"mamba_expand"}, 2) * d.hidden));
  add_norm(d, layer.weights, "input_layernorm", d.hidden);
}

void zamba2_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.pass_over({"use_mem_rope", "use_mem_eff_path", "use_long_context", "mamba_headdim",
                    "use_shared_attention_lora", "use_shared_block_lora", "conv_dimension",
                    "state_size", "mamba_dt_rank"});
  if (is_hybrid(d, i)) {
    add_use(d, i, layer, d.keys.count_or({"num_mem_blocks"}, 1));
    add_adapters(d, layer);
  }
  put_mamba(layer, add_mamba2(d, layer));
  add_norm(d, layer.weights, "input_layernorm", d.hidden);
}

}  // namespace kvplan::huggingface
