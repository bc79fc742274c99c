// SPDX-License-Identifier: Apache-2.0
#include "report/budget.h"

namespace kvplan {

std::vector<NamedLine> lines_of(const Budget& b) {
  return {{"reserved", b.reserved},   {"weights", b.weights}, {"activations", b.activation},
          {"non-torch", b.non_torch}, {"graphs", b.graph},    {"KV cache", b.kv_pool}};
}

std::optional<Bytes> unless_exact(const BudgetLine& line, Bytes end) {
  return line.low == line.high ? std::nullopt : std::optional(end);
}

}  // namespace kvplan
