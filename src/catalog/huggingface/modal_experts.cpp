// SPDX-License-Identifier: Apache-2.0
// Text models of multimodal ones that differ from their kin by modality: ERNIE 4.5 VL has experts
// for text and narrower ones for images, Molmo 2 rows for image tokens beside the vocabulary's.
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

// One number, or a list whose first is text's.
std::int64_t first_sparse_layer(const Keys& k) {
  constexpr std::string_view kFirst[] = {"moe_layer_start_index"};
  const Node* said = k.find(kFirst);
  const bool listed = said && said->kind == Node::list;
  return listed ? k.entry_integer(kFirst, 0).value_or(1) : k.integer(kFirst).value_or(1);
}

bool is_sparse(const Keys& k, std::int64_t i) {
  const std::int64_t first = first_sparse_layer(k);
  const auto type = k.entry_text({"mlp_layer_types"}, i);
  return type ? *type != "dense" : i >= first;
}

// No text token passes them.
void add_image_experts(Draft& d, Layer& layer) {
  constexpr std::string_view kWidth[] = {"moe_intermediate_size"};
  const Node* said = d.keys.find(kWidth);
  if (!said || said->kind != Node::list || said->items.size() < 2) return;
  const std::int64_t width = d.keys.entry_integer(kWidth, 1).value_or(0);
  Weights& w = layer.weights;
  add_matrix(w, "mlp.vision_moe.gate", Role::router, d.experts->count, d.hidden,
             Sharding::replicated);
  add_vector(w, "mlp.vision_moe.gate.e_score_correction_bias", Role::router, d.experts->count);
  const std::size_t before = w.size();
  add_feed_forward(d, w, Role::routed_expert, width, d.hidden);
  for (std::size_t n = before; n < w.size(); ++n) {
    w[n].copies = d.experts->count;
    w[n].active = 0;
  }
}

}  // namespace

// Experts that every token passes are as wide as text's.
void ernie_vl_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.pass_over({"use_correction_bias", "moe_group", "moe_multimodal_dispatch_use_allgather"});
  add_attention(d, i, layer);
  add_layer_norms(d, layer);
  if (!d.experts || !is_sparse(d.keys, i)) return add_mlp(d, i, layer);
  add_experts(d, layer, *d.experts);
  add_image_experts(d, layer);
}

// Molmo is OLMo's or Qwen2's decoder; its configuration says nothing of its tower.
void finish_molmo(Draft& d) {
  finish_molmo2(d);
  d.keys.pass_over({"embedding_size", "layer_norm_type", "attention_layer_norm", "weight_tying"});
  d.warn("vision-not-counted",
         "the vision tower of 'molmo' is not counted: its configuration does "
         "not describe it");
}

void finish_molmo2(Draft& d) {
  const std::int64_t more = d.keys.integer({"additional_vocab_size"}).value_or(128);
  d.keys.pass_over({"norm_after", "rope_scaling_layers"});
  add_table(d.model.ends, "embed_tokens.new_embedding", more, d.hidden);
}

}  // namespace kvplan::huggingface
