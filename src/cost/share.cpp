// SPDX-License-Identifier: Apache-2.0
#include "cost/share.h"

#include <algorithm>
#include <string_view>

namespace kvplan {

std::int64_t parts_of(const Weight& w, const Mixer* mixer, const Parallelism& p) {
  if (w.role == Role::routed_expert) return p.expert_ranks();
  if (w.sharding == Sharding::replicated) return 1;
  if (w.sharding != Sharding::kv_heads || !mixer) return p.tp;
  const auto* attention = std::get_if<Attention>(&mixer->kind);
  return std::min(p.tp, attention ? attention->kv_heads : 1);
}

bool divides_inputs(const Weight& w) {
  for (const std::string_view last : {"o_proj", "down_proj", "out_proj", "wo_b", "fc2"})
    if (w.name.ends_with(last)) return true;
  return false;
}

WeightShare share_of(const Weight& w, const Mixer* mixer, const Parallelism& p) {
  const std::int64_t parts = parts_of(w, mixer, p);
  const bool partial = divides_inputs(w);
  return {partial ? w.rows : ceil_div(w.rows, parts),
          partial ? ceil_div(w.columns, parts) : w.columns, partial};
}

}  // namespace kvplan
