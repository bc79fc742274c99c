// SPDX-License-Identifier: Apache-2.0
// Feed-forwards: which layers have experts, how many, how wide, and what is always read.
#include <algorithm>

#include "catalog/huggingface/draft.h"
#include "word_list.h"

namespace kvplan::huggingface {
namespace {

constexpr std::string_view kCount[] = {"num_local_experts", "num_experts", "n_routed_experts",
                                       "moe_num_experts"};
constexpr std::string_view kActive[] = {"num_experts_per_tok",
                                        "num_experts_per_token",
                                        "top_k_experts",
                                        "moe_top_k",
                                        "experts_per_token",
                                        "moe_k",
                                        "moe_topk"};
constexpr std::string_view kShared[] = {"n_shared_experts", "num_shared_experts",
                                        "moe_num_shared_experts", "num_shared_expert"};

// Keys that place the experts, or say how wide the layers without them are: only some are looked
// at, depending on the others.
constexpr std::string_view kLayout[] = {
    "mlp_layer_types",       "moe_layer_freq",        "moe_layers",
    "first_k_dense_replace", "num_dense_layers",      "moe_layer_start_index",
    "moe_layer_end_index",   "mlp_only_layers",       "expert_layer_period",
    "expert_layer_offset",   "decoder_sparse_step",   "interleave_moe_layer_step",
    "moe_layer_interval",    "intermediate_size_mlp", "dense_intermediate_size",
    "moe_layer_num_skipped", "moe_layers_enum"};

constexpr std::string_view kDenseFirst[] = {"first_k_dense_replace", "num_dense_layers",
                                            "moe_layer_start_index", "moe_layer_num_skipped"};

// "3,4,5", or a list of numbers.
std::optional<bool> is_enumerated(const Draft& d, std::int64_t i) {
  constexpr std::string_view kAll[] = {"moe_layers_enum"};
  const Node* said = d.keys.find(kAll);
  if (!said) return std::nullopt;
  if (said->kind == Node::list) return d.keys.lists(kAll, i);
  std::string all = d.keys.text(kAll);
  std::replace(all.begin(), all.end(), ',', ' ');
  return has_word(all, std::to_string(i));
}

bool has_experts(const Draft& d, std::int64_t i) {
  const Keys& k = d.keys;
  const auto type = k.entry_text({"mlp_layer_types"}, i);
  if (type) return *type != "dense";
  if (const auto marked = k.find({"moe_layer_freq"}); marked && marked->kind == Node::list)
    return k.entry_integer({"moe_layer_freq"}, i).value_or(1) != 0;
  if (const auto enumerated = is_enumerated(d, i)) return *enumerated;
  if (k.length({"moe_layers"}) > 0) return k.lists({"moe_layers"}, i);
  const std::int64_t first = k.integer(kDenseFirst).value_or(0);
  if (i < first || k.lists({"mlp_only_layers"}, i)) return false;
  const std::int64_t offset = k.integer({"expert_layer_offset"}).value_or(0);
  if (const auto period = k.integer({"expert_layer_period"}, 1)) return i % *period == offset;
  if (const auto every = k.integer({"moe_layer_freq"}, 1)) return i % *every == 0;
  // Every n-th, counted from one.
  const std::int64_t step =
      k.count_or({"interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_interval"}, 1);
  return (i + 1) % step == 0;
}

bool has_router_bias(const Draft& d) {
  const bool asked =
      d.keys.flag({"use_routing_bias", "use_expert_bias", "moe_router_enable_expert_bias"});
  return d.family.router_bias || asked || d.keys.text({"topk_method"}) == "noaux_tc";
}

// Width of the experts that every token passes; 0 where there are none.
std::int64_t shared_width(const Draft& d, const Experts& e) {
  const Keys& k = d.keys;
  const auto whole = k.integer({"shared_expert_intermediate_size", "share_expert_dim",
                                "share_expert_dims", "shared_intermediate_size"});
  const auto count = k.uniform(kShared);
  const auto each = k.integer({"moe_shared_expert_intermediate_size",
                               "moe_shared_intermediate_size", "shared_experts_intermediate_size"});
  if (whole) return *whole;
  if (each) return *each * count.value_or(1);
  return count.value_or(0) * e.width;
}

void add_routed(Draft& d, Weights& w, const Experts& e, std::int64_t width) {
  const std::size_t first = w.size();
  add_feed_forward(d, w, Role::routed_expert, e.width, width);
  for (std::size_t i = first; i < w.size(); ++i) {
    w[i].copies = e.count;
    w[i].active = e.active;
  }
}

// Experts may work on a narrower latent row, with a projection on either side (Nemotron 3 Super,
// Kimi K3).
std::int64_t add_latent_projections(Draft& d, Weights& w) {
  const auto latent = d.keys.integer({"moe_latent_size", "routed_expert_hidden_size"}, 1);
  if (!latent) return d.hidden;
  const bool k3 = !d.keys.has({"moe_latent_size"});
  add_matrix(w, k3 ? "mlp.routed_expert_down_proj" : "mlp.fc1_latent_proj", Role::shared_expert,
             *latent, d.hidden, Sharding::replicated);
  add_matrix(w, k3 ? "mlp.routed_expert_up_proj" : "mlp.fc2_latent_proj", Role::shared_expert,
             d.hidden, *latent, Sharding::replicated);
  if (d.keys.flag({"latent_moe_use_norm"}))
    add_vector(w, "mlp.routed_expert_norm", Role::norm, *latent);
  return *latent;
}

}  // namespace

// Some families put their keys in `ffn_config` (DBRX).
void read_experts(Draft& d) {
  const auto nested = d.keys.if_inside({"ffn_config"});
  const Keys& k = nested ? *nested : d.keys;
  const auto count = k.uniform(kCount);
  const auto active = k.uniform(kActive, count.value_or(0) > 1 ? 1 : 0);
  constexpr std::string_view kWidth[] = {"moe_intermediate_size", "expert_ffn_hidden_size",
                                         "ffn_hidden_size"};
  const Node* said = k.find(kWidth);
  const bool by_modality = d.family.experts_by_modality && said && said->kind == Node::list;
  const auto width = by_modality ? k.entry_integer(kWidth, 0) : k.uniform(kWidth);
  d.keys.pass_over(kLayout);
  if (!count || *count <= 1) return;
  k.required(kActive);
  if (*active > *count)
    k.refuse(kActive, "a token takes more experts than there are (" + std::to_string(*count) + ")");
  d.experts = Experts{*count, *active, width && *width > 0 ? *width : d.inner};
}

void add_experts(Draft& d, Layer& layer, const Experts& e) {
  Weights& w = layer.weights;
  add_matrix(w, "mlp.gate", Role::router, e.count, d.hidden, Sharding::replicated);
  if (has_router_bias(d)) add_vector(w, "mlp.gate.e_score_correction_bias", Role::router, e.count);
  add_routed(d, w, e, add_latent_projections(d, w));
  const std::int64_t shared = shared_width(d, e);
  if (shared == 0) return;
  add_feed_forward(d, w, Role::shared_expert, shared, d.hidden);
  if (d.family.shared_gate)
    add_matrix(w, "mlp.shared_expert_gate", Role::shared_expert, 1, d.hidden, Sharding::replicated);
}

void add_mlp(Draft& d, std::int64_t i, Layer& layer) {
  const auto each = d.keys.find({"intermediate_size"});
  const bool listed = each && each->kind == Node::list;
  const auto dense = d.keys.integer({"intermediate_size_mlp", "dense_intermediate_size"}, 1);
  const std::int64_t width =
      listed ? d.keys.entry_integer({"intermediate_size"}, i).value_or(0) : dense.value_or(d.inner);
  if (width > 0) add_feed_forward(d, layer.weights, Role::mlp, width, d.hidden);
}

void add_experts_or_mlp(Draft& d, std::int64_t i, Layer& layer) {
  if (d.experts && has_experts(d, i)) return add_experts(d, layer, *d.experts);
  add_mlp(d, i, layer);
}

}  // namespace kvplan::huggingface
