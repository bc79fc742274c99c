// SPDX-License-Identifier: Apache-2.0
// Feed-forwards: which layers have experts, how many, how wide, and what is always read.
#include <algorithm>

#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

constexpr std::int64_t kMostExperts = 100'000;

struct Experts {
  std::int64_t count = 0, active = 0, width = 0;
};

// The keys that hold experts: dbrx nests them.
std::optional<Experts> read_experts(const Draft& d) {
  const Node* nested = d.keys.find({"ffn_config"});
  const Keys keys = nested ? Keys(*nested) : d.keys;
  const auto count = [&](const Keys& k) {
    return k.integer({"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}, 0,
                     kMostExperts);
  };
  const auto n = nested ? count(keys) : count(d.keys);
  if (!n || *n <= 1) return std::nullopt;
  Experts e;
  e.count = *n;
  const Keys& k = nested ? keys : d.keys;
  e.active = k.count({"num_experts_per_tok", "num_experts_per_token", "top_k_experts", "moe_top_k",
                      "experts_per_token"});
  if (e.active > e.count)
    throw Error("more experts chosen per token than there are").of("num_experts_per_tok");
  const auto width = k.integer({"moe_intermediate_size", "ffn_hidden_size"}, 1);
  e.width = width.value_or(d.inner);
  return e;
}

bool in_list(const std::vector<std::int64_t>& list, std::int64_t i) {
  return std::find(list.begin(), list.end(), i) != list.end();
}

bool has_experts(const Draft& d, std::int64_t i) {
  const Keys& k = d.keys;
  const auto at = static_cast<std::size_t>(i);
  if (const auto types = k.texts({"mlp_layer_types"}); !types.empty())
    return types.at(at) == "sparse";
  if (const auto list = k.integers({"moe_layers"}); !list.empty()) return in_list(list, i);
  if (const auto step = k.integer({"interleave_moe_layer_step"}, 1)) return (i + 1) % *step == 0;
  if (const auto period = k.integer({"expert_layer_period"}, 1))
    return i % *period == k.integer({"expert_layer_offset"}).value_or(0);
  if (i < k.integer({"first_k_dense_replace"}).value_or(0)) return false;
  if (const Node* freq = k.find({"moe_layer_freq"})) {
    if (freq->kind == Node::list) return k.integers({"moe_layer_freq"}).at(at) != 0;
    if (const auto every = k.integer({"moe_layer_freq"}, 1)) return i % *every == 0;
  }
  if (in_list(k.integers({"mlp_only_layers"}), i)) return false;
  const auto step = k.integer({"decoder_sparse_step"}, 1);
  return !step || (i + 1) % *step == 0;
}

bool has_router_bias(const Draft& d) {
  const std::string_view type = d.family.model_type;
  return d.keys.text({"topk_method"}) == "noaux_tc" || d.keys.flag({"use_routing_bias"}) ||
         type == "nemotron_h" || type == "gpt_oss" || type == "kimi_linear" || type == "kimi_k3" ||
         type == "glm4_moe";
}

// Width of the experts that every token passes; 0 where there are none.
std::int64_t shared_width(const Draft& d, const Experts& e) {
  const Keys& k = d.keys;
  if (d.family.model_type.starts_with("llama4")) return e.width;
  if (const auto width = k.integer({"shared_expert_intermediate_size", "share_expert_dim"}, 0))
    return *width;
  const auto count = k.integer({"n_shared_experts", "num_shared_experts"}, 0, kMostExperts);
  if (const auto width = k.integer({"moe_shared_expert_intermediate_size"}, 0))
    return *width * count.value_or(1);
  if (const auto width = k.integer({"shared_intermediate_size"}, 0)) return *width;
  return count.value_or(0) * e.width;
}

void add_experts(Draft& d, Layer& layer, const Experts& e) {
  Weights& w = layer.weights;
  add_matrix(w, "mlp.gate", Role::router, e.count, d.hidden, Sharding::replicated);
  if (has_router_bias(d)) add_vector(w, "mlp.gate.e_score_correction_bias", Role::router, e.count);
  // Experts may work on a narrower latent row (Nemotron 3 Super, Kimi K3), with a projection on
  // either side.
  const auto latent = d.keys.integer({"moe_latent_size", "routed_expert_hidden_size"}, 1);
  if (latent) {
    add_matrix(w, "mlp.fc1_latent_proj", Role::shared_expert, *latent, d.hidden,
               Sharding::replicated);
    add_matrix(w, "mlp.fc2_latent_proj", Role::shared_expert, d.hidden, *latent,
               Sharding::replicated);
    if (d.keys.flag({"latent_moe_use_norm"})) add_vector(w, "mlp.latent_norm", Role::norm, *latent);
  }
  add_feed_forward(d, w, Role::routed_expert, e.width, latent.value_or(d.hidden), e.count,
                   e.active);
  const std::int64_t shared = shared_width(d, e);
  if (shared == 0) return;
  add_feed_forward(d, w, Role::shared_expert, shared, d.hidden);
  if (d.family.model_type.starts_with("qwen"))
    add_matrix(w, "mlp.shared_expert_gate", Role::shared_expert, 1, d.hidden, Sharding::replicated);
}

std::int64_t dense_width(const Draft& d) {
  return d.keys.integer({"intermediate_size_mlp", "dense_intermediate_size"}, 1).value_or(d.inner);
}

}  // namespace

void add_mixer_of_experts_or_mlp(Draft& d, std::int64_t i, Layer& layer) {
  const auto experts = read_experts(d);
  if (experts && has_experts(d, i)) return add_experts(d, layer, *experts);
  const std::int64_t width = dense_width(d);
  if (width > 0) add_feed_forward(d, layer.weights, Role::mlp, width, d.hidden);
}

}  // namespace kvplan::huggingface
