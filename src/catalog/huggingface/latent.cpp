// SPDX-License-Identifier: Apache-2.0
// Multi-head latent attention (DeepSeek-V2 report, section 2.1) and the indexer of DeepSeek sparse
// attention (DeepSeek-V3.2 report, section 2.1).
#include <algorithm>

#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

// Only "full" layers own an indexer and its keys; "shared" ones use another layer's choice
// (GLM-5.2). Where no list says so, every `index_topk_freq`-th layer after the first ones is full.
bool owns_indexer(const Draft& d, std::int64_t i) {
  d.keys.pass_over({"index_share_for_mtp_iteration"});
  const std::int64_t every = d.keys.count_or({"index_topk_freq"}, 1),
                     first = d.keys.integer({"index_skip_topk_offset"}).value_or(2);
  const auto type = d.keys.entry_text({"indexer_types"}, i);
  if (type && *type != "full" && *type != "shared")
    d.keys.refuse({"indexer_types"}, "kv-plan does not know '" + *type + "'");
  return type ? *type == "full" : std::max<std::int64_t>(i - first + 1, 0) % every == 0;
}

void add_indexer(Draft& d, std::int64_t i, Layer& layer, std::int64_t q_rank) {
  const auto top = d.keys.integer({"index_topk"}, 1);
  if (!top) return;
  Sparse sparse;
  sparse.heads = d.keys.count({"index_n_heads"});
  sparse.width = d.keys.count({"index_head_dim"});
  sparse.top_entries = *top;
  sparse.owns_keys = owns_indexer(d, i);
  layer.mixer.sparse = sparse;
  if (!sparse.owns_keys) return;
  Weights& w = layer.weights;
  constexpr auto kWhole = Sharding::replicated;
  add_matrix(w, "self_attn.indexer.wq_b", Role::attention, sparse.heads * sparse.width, q_rank,
             kWhole);
  add_matrix(w, "self_attn.indexer.wk", Role::attention, sparse.width, d.hidden, kWhole);
  add_vector(w, "self_attn.indexer.k_norm", Role::norm, 2 * sparse.width);
  add_matrix(w, "self_attn.indexer.weights_proj", Role::attention, sparse.heads, d.hidden, kWhole);
}

void add_queries(Draft& d, Layer& layer, std::int64_t rows, std::optional<std::int64_t> rank) {
  Weights& w = layer.weights;
  if (!rank) return add_matrix(w, "self_attn.q_proj", Role::attention, rows, d.hidden);
  add_matrix(w, "self_attn.q_a_proj", Role::attention, *rank, d.hidden, Sharding::replicated);
  add_vector(w, "self_attn.q_a_layernorm", Role::norm, *rank);
  add_matrix(w, "self_attn.q_b_proj", Role::attention, rows, *rank);
}

}  // namespace

void add_latent_attention(Draft& d, std::int64_t i, Layer& layer) {
  const Keys& k = d.keys;
  const auto own = own_keys(d, i);  // dots3
  const auto count = [&](std::string_view name, std::int64_t otherwise) {
    return own ? own->count_or({name}, otherwise) : otherwise;
  };
  if (own) own->pass_over({"num_key_value_heads"});
  Latent l;
  l.heads = count("num_attention_heads", d.heads);
  l.latent = count("kv_lora_rank", k.count({"kv_lora_rank"}));
  l.rope = k.integer({"qk_rope_head_dim"}).value_or(-1);
  if (l.rope < 0) k.required({"qk_rope_head_dim"});
  l.nope = count("qk_nope_head_dim", k.count({"qk_nope_head_dim"}));
  const auto v_width = k.integer({"v_head_dim"}, 1);
  l.v_width = v_width ? *v_width : d.hidden / d.heads;  // MiniCPM3 leaves it out
  layer.mixer.kind = l;
  const bool slides = k.entry_text({"layer_types"}, i) == "sliding_attention";
  layer.mixer.reach = {slides ? reach_of(d, i) : Reach(All{})};
  k.pass_over({"qk_head_dim"});

  Weights& w = layer.weights;
  const auto q_rank = k.integer({"q_lora_rank"}, 1);
  add_queries(d, layer, l.heads * (l.nope + l.rope), q_rank);
  add_matrix(w, "self_attn.kv_a_proj_with_mqa", Role::attention, l.latent + l.rope, d.hidden,
             Sharding::replicated);
  add_vector(w, "self_attn.kv_a_layernorm", Role::norm, l.latent);
  add_matrix(w, "self_attn.kv_b_proj", Role::attention, l.heads * (l.nope + l.v_width), l.latent);
  add_matrix(w, "self_attn.o_proj", Role::attention, d.hidden, l.heads * l.v_width);
  if (k.flag({"attention_bias"})) {
    if (q_rank) add_vector(w, "self_attn.q_a_proj.bias", Role::attention, *q_rank);
    add_vector(w, "self_attn.kv_a_proj_with_mqa.bias", Role::attention, l.latent + l.rope);
    add_vector(w, "self_attn.o_proj.bias", Role::attention, d.hidden);
  }
  if (k.flag({"mla_use_output_gate"}))
    add_matrix(w, "self_attn.g_proj", Role::attention, l.heads * l.v_width, d.hidden);
  if (!slides) add_indexer(d, i, layer, q_rank.value_or(d.hidden));
}

}  // namespace kvplan::huggingface
