// SPDX-License-Identifier: Apache-2.0
// What a plain implementation of attention moves that a fused, grouped kernel does not. Scores
// after Dao et al., "FlashAttention", 2022, algorithm 0; repetition as in LLaMA's and Hugging
// Face's reference code.
#pragma once
#include <cstdint>

#include "units.h"

namespace kvplan {

// The scores of one layer of one prompt in 16 bits: heads x prompt x prompt.
inline Bytes score_matrix(std::int64_t heads, Tokens prompt) {
  return Bytes(checked_mul(checked_mul(checked_mul(heads, prompt.n), prompt.n), 2));
}
// Scores are written, read by the softmax, written as probabilities and read with V.
inline Bytes score_traffic(Bytes scores) { return scores * 4; }

// A step that concatenates the cache with the new token (read and written once), repeats K and V
// for every query head (read once, written `repeats` times) and reads the repeated ones.
inline Bytes repeated_traffic(Bytes cache, std::int64_t repeats) {
  return cache * checked_add(3, checked_mul(2, repeats));
}

}  // namespace kvplan
