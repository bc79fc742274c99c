// SPDX-License-Identifier: Apache-2.0
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {

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

void add_vector(Weights& weights, std::string_view name, Role role, std::int64_t elements) {
  Weight w;
  w.name = name;
  w.role = role;
  w.rows = elements;
  w.is_matrix = false;
  weights.push_back(w);
}

void add_norm(const Draft& draft, Weights& weights, std::string_view name, std::int64_t width) {
  add_vector(weights, name, Role::norm, width);
  if (draft.family.norm == Family::layer_norm) add_vector(weights, name, Role::norm, width);
}

void add_feed_forward(const Draft& draft, Weights& weights, Role role, std::int64_t inner,
                      std::int64_t hidden, std::int64_t copies, std::int64_t active) {
  const std::size_t first = weights.size();
  const bool expert = role == Role::routed_expert;
  const auto name = [&](std::string_view dense, std::string_view routed, std::string_view shared) {
    return expert ? routed : role == Role::shared_expert ? shared : dense;
  };
  if (draft.family.gated)
    add_matrix(weights,
               name("mlp.gate_proj", "mlp.experts.*.gate_proj", "mlp.shared_experts.gate_proj"),
               role, inner, hidden);
  add_matrix(weights, name("mlp.up_proj", "mlp.experts.*.up_proj", "mlp.shared_experts.up_proj"),
             role, inner, hidden);
  add_matrix(weights,
             name("mlp.down_proj", "mlp.experts.*.down_proj", "mlp.shared_experts.down_proj"), role,
             hidden, inner);
  if (draft.family.mlp_bias || draft.keys.flag({"mlp_bias"})) {
    add_vector(weights, "mlp.bias", role, draft.family.gated ? 2 * inner : inner);
    add_vector(weights, "mlp.down_proj.bias", role, hidden);
  }
  for (std::size_t i = first; i < weights.size(); ++i) {
    weights[i].copies = copies;
    weights[i].active = active;
  }
}

}  // namespace kvplan::huggingface
