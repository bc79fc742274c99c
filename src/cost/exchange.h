// SPDX-License-Identifier: Apache-2.0
// Experts that stay whole on several GPUs: what of each token's row travels to them, or back.
#pragma once
#include <cstdint>

#include "cost/shape.h"

namespace kvplan {

// Published times of exchanges among GPUs go up to the eight of one machine.
inline constexpr std::int64_t kMostExchanging = 8;

// Of `ranks` GPUs that hold equally many experts, those on which a token's `chosen` lie on average,
// all choices being as likely: r (1 - C(E - E/r, k) / C(E, k)).
double ranks_visited(std::int64_t experts, std::int64_t chosen, std::int64_t ranks);

// Of `tokens` on each GPU, a copy for each GPU that has some of a token's experts, 16 bits a
// number.
CollectiveShape exchange_of(const MoeShape&, std::int64_t tokens);

}  // namespace kvplan
