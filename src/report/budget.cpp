// SPDX-License-Identifier: Apache-2.0
#include "report/budget.h"

#include <algorithm>

namespace kvplan {
namespace {

// What the engine leaves alone: 1 - utilization of the memory, or all beside a given pool.
BudgetLine unused_of(const Budget& b) {
  Bytes left = b.memory - b.kv_pool.value;
  for (const BudgetLine* line :
       {&b.reserved, &b.weights, &b.adapters, &b.activation, &b.non_torch, &b.graph})
    left -= line->value;
  left = std::max(left, Bytes(0));
  return {left, left, left, Basis::engine_rule, "not for the engine: 1 - utilization"};
}

}  // namespace

std::vector<NamedLine> lines_of(const Budget& b) {
  std::vector<NamedLine> lines{{"memory", {b.memory, b.memory, b.memory, Basis::exact, {}}}};
  const auto add = [&](std::string_view name, const BudgetLine& line) {
    if (line.high.n != 0) lines.push_back({name, line});
  };
  add("left free", unused_of(b));
  add("reserved", b.reserved);
  add("weights", b.weights);
  add("LoRA adapters", b.adapters);
  add("activations", b.activation);
  add("non-torch", b.non_torch);
  add("graphs", b.graph);
  lines.push_back({"KV cache", b.kv_pool});
  return lines;
}

std::optional<Bytes> unless_exact(const BudgetLine& line, Bytes end) {
  return line.low == line.high ? std::nullopt : std::optional(end);
}

}  // namespace kvplan
