// SPDX-License-Identifier: Apache-2.0
// vllm/lora/layers: base_linear.py, column_parallel_linear.py, fused_moe.py. Qwen3-30B-A3B at TP 4
// with 16 slots of rank 32 loads 53.9761 GiB, with the experts' adapters sharded too 26.9761
// (vllm#28761).
#include "engine/vllm/adapters.h"

#include <algorithm>

#include "cost/share.h"
#include "engine/budget_lines.h"

namespace kvplan::vllm {
namespace {

constexpr std::int64_t kElement = 2;  // bytes: the model's own 16 bits

// Values of one slot beside the copies of a matrix that one rank holds. Sharded as its matrix, A
// has all inputs of a matrix that divides its outputs, B all outputs of one that divides its
// inputs; with fully_sharded_loras these are divided as well.
std::int64_t slot_values(const Weight& w, const Mixer* mixer, const Served& served) {
  const Parallelism& p = served.parallel;
  const Adapters& adapters = served.serving.adapters;
  const bool expert = w.role == Role::routed_expert;
  const bool whole = w.sharding == Sharding::replicated || (expert && p.ep > 1);
  const std::int64_t parts = whole ? 1 : expert ? p.tp : parts_of(w, mixer, p);
  const std::int64_t copies = expert && p.ep > 1 ? ceil_div(w.copies, p.ep) : w.copies;
  const std::int64_t rest = adapters.sharded && !whole ? p.tp : 1;
  const bool inputs = divides_inputs(w);
  const std::int64_t a = ceil_div(w.columns, inputs ? parts : rest);
  const std::int64_t b = ceil_div(w.rows, inputs ? rest : parts);
  return checked_mul(checked_mul(adapters.rank, checked_add(a, b)), copies);
}

bool is_adapted(const Weight& w, const Rules& rules) {
  return w.is_matrix && (w.role != Role::routed_expert || rules.adapts_experts);
}

}  // namespace

BudgetLine adapter_line(const Served& served) {
  const Adapters& adapters = served.serving.adapters;
  if (adapters.slots == 0) return {};
  const std::vector<int> stages = stages_of(served.model, served.parallel.pp);
  std::vector<std::int64_t> values(static_cast<std::size_t>(served.parallel.pp));
  for (std::size_t i = 0; i < served.model.layers.size(); ++i) {
    const Layer& layer = served.model.layers[i];
    if (layer.role != Layer::main) continue;
    for (const Weight& w : layer.weights)
      if (is_adapted(w, served.rules))
        values[static_cast<std::size_t>(stages[i])] += slot_values(w, &layer.mixer, served);
  }
  std::int64_t ends = 0;
  for (const Weight& w : served.model.ends)
    if (w.is_matrix) ends = checked_add(ends, slot_values(w, nullptr, served));
  const auto bytes = [&](std::int64_t of_one_slot) {
    return Bytes(checked_mul(checked_mul(of_one_slot, adapters.slots), kElement));
  };
  const std::int64_t most = *std::max_element(values.begin(), values.end());
  return line_between(bytes(most), bytes(most), bytes(checked_add(most, ends)), Basis::engine_rule,
                      "max_loras slots of max_lora_rank beside every matrix (vllm#28761)");
}

}  // namespace kvplan::vllm
