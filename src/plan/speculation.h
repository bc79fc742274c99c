// SPDX-License-Identifier: Apache-2.0
// Speculative decoding: Leviathan, Kalman, Matias, "Fast Inference from Transformers via
// Speculative Decoding", 2023.
#pragma once
#include <cstdint>

namespace kvplan {

// Tokens that one verification pass yields on average with `drafted` tokens of which each is
// accepted with probability `acceptance` in [0, 1], independently (equation 1): (1 - a^(k+1)) / (1
// - a); k + 1 at a = 1.
double expected_tokens_per_pass(double acceptance, std::int64_t drafted);

// Wall-time gain when a draft step costs `draft_cost` and a verification pass `verify_cost`, both
// in units of a plain decode step (theorem 3.8 with c = draft_cost and the cost of verifying k + 1
// tokens kept apart).
double speculative_speedup(double acceptance, std::int64_t drafted, double draft_cost,
                           double verify_cost);

}  // namespace kvplan
