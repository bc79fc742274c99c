// SPDX-License-Identifier: Apache-2.0
#include "engine/budget_lines.h"

#include <algorithm>

namespace kvplan {

BudgetLine exact_line(Bytes value, std::string_view source) {
  return {value, value, value, Basis::exact, source};
}

BudgetLine line_between(Bytes low, Bytes value, Bytes high, Basis basis, std::string_view source) {
  return {value, low, high, basis, source};
}

BudgetLine left_after(const BudgetLine& available, std::initializer_list<BudgetLine> taken) {
  BudgetLine left = available;
  for (const BudgetLine& line : taken) {
    left.value -= line.value;
    left.low -= line.high;
    left.high -= line.low;
    left.basis = std::max(left.basis, line.basis);
  }
  left.source = {};
  return left;
}

Budget with_pool(Budget budget, const EngineOptions& options) {
  if (options.kv_pool) budget.kv_pool = exact_line(*options.kv_pool, "--kv-pool");
  return budget;
}

}  // namespace kvplan
