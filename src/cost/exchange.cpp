// SPDX-License-Identifier: Apache-2.0
#include "cost/exchange.h"

#include <algorithm>
#include <cmath>

namespace kvplan {

double ranks_visited(std::int64_t experts, std::int64_t chosen, std::int64_t ranks) {
  double missed = 1;  // one of the ranks, by all that are chosen
  for (std::int64_t i = 0; i < chosen; ++i)
    missed *= static_cast<double>(std::max<std::int64_t>(0, experts - experts / ranks - i)) /
              static_cast<double>(experts - i);
  return static_cast<double>(ranks) * (1 - missed);
}

CollectiveShape exchange_of(const MoeShape& experts, std::int64_t tokens) {
  const double copies = static_cast<double>(tokens) *
                        ranks_visited(experts.experts, experts.chosen, experts.expert_parallel);
  return {CollectiveShape::all_to_all, experts.expert_parallel,
          Bytes(checked_mul(std::llround(copies), checked_mul(experts.hidden, 2)))};
}

}  // namespace kvplan
