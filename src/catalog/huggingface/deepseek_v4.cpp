// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V4 (report, section 2): every layer keeps a sliding window of rows that are key and
// value at once; most layers also keep rows compressed 4 or 128 to one, and those at 4 to one an
// indexer over compressed keys. Shapes: transformers' deepseek_v4 model.
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

constexpr std::int64_t kOverlapping = 4;  // this ratio's compressor makes two overlapping series

// Key and gate projections, a bias per position of a block, a norm.
void add_compressor(Draft& d, Weights& w, std::int64_t ratio, std::int64_t width, bool of_index) {
  const std::int64_t rows = (ratio == kOverlapping ? 2 : 1) * width;
  constexpr auto kWhole = Sharding::replicated;
  add_matrix(w, of_index ? "self_attn.indexer.compressor.wkv" : "self_attn.compressor.wkv",
             Role::attention, rows, d.hidden, kWhole);
  add_matrix(w, of_index ? "self_attn.indexer.compressor.wgate" : "self_attn.compressor.wgate",
             Role::attention, rows, d.hidden, kWhole);
  add_vector(w, "self_attn.compressor.ape", Role::attention, product(ratio, rows));
  add_vector(w, "self_attn.compressor.norm", Role::norm, width);
}

void add_sparse(Draft& d, Layer& layer, std::int64_t ratio, std::int64_t q_rank) {
  Sparse s;
  s.heads = d.keys.count({"index_n_heads"});
  s.width = d.keys.count({"index_head_dim"});
  s.top_entries = d.keys.count({"index_topk"});
  s.ratio = ratio;
  layer.mixer.sparse = s;
  Weights& w = layer.weights;
  add_matrix(w, "self_attn.indexer.wq_b", Role::attention, s.heads * s.width, q_rank,
             Sharding::replicated);
  add_matrix(w, "self_attn.indexer.weights_proj", Role::attention, s.heads, d.hidden,
             Sharding::replicated);
  add_compressor(d, w, ratio, s.width, true);
}

void add_projections(Draft& d, Layer& layer) {
  const Keys& k = d.keys;
  const std::int64_t q_rank = k.count({"q_lora_rank"}), o_rank = k.count({"o_lora_rank"}),
                     groups = k.count({"o_groups"}), queries = d.heads * d.head_dim;
  if (queries % groups != 0) k.refuse({"o_groups"}, "does not divide the heads");
  Weights& w = layer.weights;
  add_matrix(w, "self_attn.wq_a", Role::attention, q_rank, d.hidden, Sharding::replicated);
  add_vector(w, "self_attn.q_norm", Role::norm, q_rank);
  add_matrix(w, "self_attn.wq_b", Role::attention, queries, q_rank);
  add_matrix(w, "self_attn.wkv", Role::attention, d.kv_heads * d.head_dim, d.hidden,
             Sharding::replicated);
  add_vector(w, "self_attn.kv_norm", Role::norm, d.head_dim);
  // The output goes through `o_groups` low-rank products of their own heads, then one product.
  add_matrix(w, "self_attn.wo_a", Role::attention, groups * o_rank, queries / groups);
  add_matrix(w, "self_attn.wo_b", Role::attention, d.hidden, groups * o_rank);
  add_vector(w, "self_attn.attn_sink", Role::attention, d.heads);
}

}  // namespace

// Hyper-connections: `m` residual streams, mixed by m (m + 2) weights of all streams.
void add_hyper_connection(Draft& d, Weights& w, std::string_view name) {
  const std::int64_t m = d.keys.integer({"hc_mult"}, 0, 64).value_or(0);
  d.keys.pass_over({"hc_eps", "hc_sinkhorn_iters"});
  if (m == 0) return;
  const std::int64_t outputs = m * (m + 2);
  add_vector(w, name, Role::mlp, product(outputs, m, d.hidden) + outputs + 3);
}

void deepseek_v4_layer(Draft& d, std::int64_t i, Layer& layer) {
  const Keys& k = d.keys;
  k.required({"compress_ratios"});
  const std::int64_t ratio = k.entry_integer({"compress_ratios"}, i).value_or(0);
  Attention a = attention_shape(d);
  a.v_is_k = true;
  a.rope_width = k.count({"qk_rope_head_dim"});
  if (a.rope_width > a.k_width) k.refuse({"qk_rope_head_dim"}, "wider than head_dim");
  layer.mixer.kind = a;
  layer.mixer.reach = {Window{Tokens(k.count({"sliding_window"}))}};
  add_projections(d, layer);
  if (ratio > 0) {
    layer.mixer.reach.push_back(Compressed{ratio});
    add_compressor(d, layer.weights, ratio, d.head_dim, false);
  }
  if (ratio == kOverlapping) add_sparse(d, layer, ratio, k.count({"q_lora_rank"}));
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
  add_hyper_connection(d, layer.weights, "attn_hc");
  add_hyper_connection(d, layer.weights, "ffn_hc");
}

void finish_deepseek_v4(Draft& d) {
  const std::int64_t m = d.keys.integer({"hc_mult"}, 0, 64).value_or(0);
  d.keys.pass_over({"num_hash_layers", "compress_rope_theta", "attention_bias"});
  if (m > 0) add_vector(d.model.ends, "hc_head", Role::mlp, product(m, m, d.hidden) + m + 1);
}

}  // namespace kvplan::huggingface
