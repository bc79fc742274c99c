// SPDX-License-Identifier: Apache-2.0
// DeepSeek-V4: every layer keeps a sliding window of shared key-value rows, most also rows
// compressed 4 or 128 to one, and those at 4 to one an indexer over compressed keys.
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {

void deepseek_v4_layer(Draft& d, std::int64_t i, Layer& layer) {
  const Keys& k = d.keys;
  const auto ratios = k.integers({"compress_ratios"});
  if (static_cast<std::int64_t>(ratios.size()) < d.layers)
    throw Error("fewer entries than there are layers").of("compress_ratios");
  const std::int64_t ratio = ratios[static_cast<std::size_t>(i)];
  Attention a{d.heads, d.kv_heads, d.head_dim, d.head_dim, true, k.count({"qk_rope_head_dim"})};
  layer.mixer.kind = a;
  layer.mixer.reach = {Window{Tokens(k.count({"sliding_window"}))}};
  if (ratio > 0) layer.mixer.reach.push_back(Compressed{ratio});

  Weights& w = layer.weights;
  const std::int64_t q_rank = k.count({"q_lora_rank"}), o_rank = k.count({"o_lora_rank"}),
                     groups = k.count({"o_groups"});
  add_matrix(w, "self_attn.wq_a", Role::attention, q_rank, d.hidden, Sharding::replicated);
  add_vector(w, "self_attn.q_norm", Role::norm, q_rank);
  add_matrix(w, "self_attn.wq_b", Role::attention, d.heads * d.head_dim, q_rank);
  add_matrix(w, "self_attn.wkv", Role::attention, d.kv_heads * d.head_dim, d.hidden,
             Sharding::replicated);
  add_vector(w, "self_attn.kv_norm", Role::norm, d.head_dim);
  // The output goes through `o_groups` low-rank products of their own heads, then one product.
  add_matrix(w, "self_attn.wo_a", Role::attention, groups * o_rank, d.heads * d.head_dim / groups);
  add_matrix(w, "self_attn.wo_b", Role::attention, d.hidden, groups * o_rank);
  add_vector(w, "self_attn.attn_sink", Role::attention, d.heads);
  if (ratio == 4) {
    Sparse s;
    s.heads = k.count({"index_n_heads"});
    s.width = k.count({"index_head_dim"});
    s.top_entries = k.count({"index_topk"});
    s.ratio = ratio;
    layer.mixer.sparse = s;
    add_matrix(w, "self_attn.indexer.wq_b", Role::attention, s.heads * s.width, q_rank,
               Sharding::replicated);
    add_matrix(w, "self_attn.indexer.weights_proj", Role::attention, s.heads, d.hidden,
               Sharding::replicated);
    add_matrix(w, "self_attn.indexer.compressor", Role::attention, 4 * s.width, d.hidden,
               Sharding::replicated);
  }
  // Compressors project to key and gate; at 4 to one two overlapping sets.
  if (ratio > 0)
    add_matrix(w, "self_attn.compressor", Role::attention, (ratio == 4 ? 4 : 2) * d.head_dim,
               d.hidden, Sharding::replicated);
  add_mixer_of_experts_or_mlp(d, i, layer);
  add_norm(d, w, "attn_norm", d.hidden);
  add_norm(d, w, "ffn_norm", d.hidden);
}

void finish_deepseek_v4(Draft& d) {
  for (const std::string_view key :
       {"hc_mult", "hc_eps", "hc_sinkhorn_iters", "num_hash_layers", "compress_rope_theta"})
    d.keys.find({key});
  d.model.warnings.push_back(
      {"parameters-approximate",
       "DeepSeek-V4's hyper-connections and compressor biases are not counted: its parameter total "
       "is a lower bound (no published total to check against)"});
}

}  // namespace kvplan::huggingface
