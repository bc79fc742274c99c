// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

struct FeedForwardNames {
  std::string_view gate, up, down, bias, down_bias;
};

constexpr FeedForwardNames names_of(Role role) {
  switch (role) {
    case Role::routed_expert:
      return {"mlp.experts.*.gate_proj", "mlp.experts.*.up_proj", "mlp.experts.*.down_proj",
              "mlp.experts.*.up_proj.bias", "mlp.experts.*.down_proj.bias"};
    case Role::shared_expert:
      return {"mlp.shared_experts.gate_proj", "mlp.shared_experts.up_proj",
              "mlp.shared_experts.down_proj", "mlp.shared_experts.up_proj.bias",
              "mlp.shared_experts.down_proj.bias"};
    default:
      return {"mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", "mlp.up_proj.bias",
              "mlp.down_proj.bias"};
  }
}

constexpr std::string_view kNormNames[] = {"input_layernorm", "post_attention_layernorm",
                                           "pre_feedforward_layernorm",
                                           "post_feedforward_layernorm"};

}  // namespace

std::int64_t product(std::int64_t a, std::int64_t b, std::int64_t c) {
  return checked_mul(checked_mul(a, b), c);
}

void add_matrix(Weights& weights, std::string_view name, Role role, std::int64_t rows,
                std::int64_t columns, Sharding sharding) {
  Weight w;
  w.name = name;
  w.role = role;
  w.rows = rows;
  w.columns = columns;
  w.sharding = sharding;
  weights.push_back(w);
}

void add_vector(Weights& weights, std::string_view name, Role role, std::int64_t elements,
                Sharding sharding) {
  add_matrix(weights, name, role, elements, 1, sharding);
  weights.back().is_matrix = false;
}

void add_table(Weights& weights, std::string_view name, std::int64_t rows, std::int64_t columns,
               Sharding sharding) {
  add_matrix(weights, name, Role::embedding, rows, columns, sharding);
  weights.back().is_matrix = false;
}

void add_norm(const Draft& draft, Weights& weights, std::string_view name, std::int64_t width) {
  if (draft.family.norm == Family::unweighted) return;
  const bool biased = draft.family.norm == Family::layer_norm;
  add_vector(weights, name, Role::norm, product(width, biased ? 2 : 1));
}

void add_layer_norms(const Draft& draft, Layer& layer) {
  // HyperCLOVA X and LFM3 may leave out the norms behind the blocks.
  const bool behind = draft.keys.flag({"use_post_norm", "use_sandwich_norm"}, true);
  for (int i = 0; i < (behind ? draft.family.norms : std::min(draft.family.norms, 2)); ++i)
    add_norm(draft, layer.weights, kNormNames[i], draft.hidden);
}

void add_feed_forward(const Draft& draft, Weights& weights, Role role, std::int64_t inner,
                      std::int64_t width) {
  const FeedForwardNames names = names_of(role);
  const bool gated = draft.family.gated;
  if (gated) add_matrix(weights, names.gate, role, inner, width);
  add_matrix(weights, names.up, role, inner, width);
  add_matrix(weights, names.down, role, width, inner);
  const bool asked = draft.keys.flag({"mlp_bias"});
  if (!draft.family.mlp_bias && !asked) return;
  add_vector(weights, names.bias, role, product(inner, gated ? 2 : 1), Sharding::split);
  add_vector(weights, names.down_bias, role, width);
}

}  // namespace kvplan::huggingface
