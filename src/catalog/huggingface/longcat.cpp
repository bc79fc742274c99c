// SPDX-License-Identifier: Apache-2.0
// LongCat-Flash (technical report 2025): a layer is two blocks of latent attention and dense
// feed-forward, the experts stand beside the second; some experts do nothing. LongCat-Flash-Lite
// adds tables of n-grams to the embedding (arXiv 2601.21204).
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {

void longcat_widths(Draft& d) {
  d.layers *= 2;
  d.keys.pass_over({"attention_method", "zero_expert_type", "mla_scale_q_lora", "mla_scale_kv_lora",
                    "rounter_params_dtype", "router_dtype", "params_dtype", "nextn_use_scmoe",
                    "head_dim"});
}

// Experts and their router begin in the first block of a pair and end in the second.
void longcat_layer(Draft& d, std::int64_t i, Layer& layer) {
  add_latent_attention(d, i, layer);
  add_feed_forward(d, layer.weights, Role::mlp, d.inner, d.hidden);
  add_layer_norms(d, layer);
  if (i % 2 != 0 || !d.experts) return;
  const std::size_t before = layer.weights.size();
  add_experts(d, layer, *d.experts);
  const std::int64_t idle = d.keys.integer({"zero_expert_num"}).value_or(0);
  for (std::size_t n = before; n < layer.weights.size(); ++n)
    if (layer.weights[n].role == Role::router) layer.weights[n].rows += idle;
  if (d.keys.flag({"router_bias"}))
    add_vector(layer.weights, "mlp.router.classifier.bias", Role::router, d.experts->count + idle);
}

// One attention and one feed-forward.
void longcat_mtp_layer(Draft& d, std::int64_t, Layer& layer) { longcat_layer(d, 1, layer); }

// Tables of 2- to n-grams, k of each, two rows apart in size, and a projection for each.
void finish_longcat(Draft& d) {
  const Keys& k = d.keys;
  const auto ratio = k.number({"ngram_vocab_size_ratio"});
  const auto neighbours = k.integer({"emb_neighbor_num"}, 2, 64),
             splits = k.integer({"emb_split_num"}, 1, 64);
  if (!ratio) return;
  if (!(*ratio > 0 && *ratio < 1e6)) k.refuse({"ngram_vocab_size_ratio"}, "out of range");
  const std::int64_t tables = splits.value_or(4) * (neighbours.value_or(4) - 1);
  if (d.hidden % tables != 0) k.refuse({"emb_split_num"}, "tables do not divide the hidden size");
  const auto rows = static_cast<std::int64_t>(*ratio * static_cast<double>(d.vocabulary));
  Weights& ends = d.model.ends;
  for (std::int64_t i = 0; i < tables; ++i) {
    add_table(ends, "ngram_embeddings.embedders", rows + 2 * i + 1, d.hidden / tables);
    add_matrix(ends, "ngram_embeddings.post_projs", Role::mlp, d.hidden, d.hidden / tables);
  }
}

}  // namespace kvplan::huggingface
