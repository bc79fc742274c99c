// SPDX-License-Identifier: Apache-2.0
#include "plan/speculation.h"

namespace kvplan {

double expected_tokens_per_pass(double acceptance, std::int64_t drafted) {
  // The geometric sum 1 + a + … + a^k, which needs no division and so no special case at a = 1.
  double sum = 1, power = 1;
  for (std::int64_t i = 0; i < drafted; ++i) sum += power *= acceptance;
  return sum;
}

double speculative_speedup(double acceptance, std::int64_t drafted, double draft_cost,
                           double verify_cost) {
  const double pass = static_cast<double>(drafted) * draft_cost + verify_cost;
  return expected_tokens_per_pass(acceptance, drafted) / pass;
}

}  // namespace kvplan
