// SPDX-License-Identifier: Apache-2.0
// Weights of a tile rounded to bf16, and the order of the values that they meet in pairs of tokens.
#pragma once
#include "kernels/cpu/softmax_rows.h"

namespace kvplan {

using WeightRow = std::uint16_t[kTileTokens];  // bf16

// 16 weights of a query from token `first` + t on, times the values' scales where the format has
// them.
KVPLAN_DOT inline __m512 scaled_weights(const KvRows& kv, std::int64_t first, std::int64_t tokens,
                                        const ScoreRow& weights, std::int64_t t) {
  const __m512 weight = _mm512_load_ps(weights + t);
  if (!kv.value_scales) return weight;
  const float* scales = kv.value_scales + first + t;
  return _mm512_mul_ps(weight, _mm512_maskz_loadu_ps(vectors::mask_of(tokens - t), scales));
}

KVPLAN_DOT inline void pack_weights(const KvRows& kv, std::int64_t first, std::int64_t tokens,
                                    const ScoreRow& weights, WeightRow& packed) {
  for (std::int64_t t = 0; t < kTileTokens; t += 32)
    _mm512_store_si512(packed + t, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(
                                       scaled_weights(kv, first, tokens, weights, t + 16),
                                       scaled_weights(kv, first, tokens, weights, t))));
}

// Where the numbers of 32 lie while a state is unpacked: unpacklo and unpackhi, which lay two
// tokens' values side by side, work on 128 bits.
constexpr std::int64_t unpacked(std::int64_t i) { return i % 4 + i / 8 * 4 + i / 4 % 2 * 16; }

KVPLAN_DOT inline void permute(AttentionState& state, std::int64_t rows, bool unpack) {
  alignas(64) std::int32_t places[32];
  for (std::int32_t i = 0; i < 32; ++i) {
    if (unpack)
      places[unpacked(i)] = i;
    else
      places[i] = static_cast<std::int32_t>(unpacked(i));
  }
  const __m512i first = _mm512_load_si512(places), second = _mm512_load_si512(places + 16);
  for (std::int64_t at = 0; at < rows * state.value_width; at += 32) {
    float* numbers = state.out.data() + at;
    const __m512 low = _mm512_loadu_ps(numbers), high = _mm512_loadu_ps(numbers + 16);
    _mm512_storeu_ps(numbers, _mm512_permutex2var_ps(low, first, high));
    _mm512_storeu_ps(numbers + 16, _mm512_permutex2var_ps(low, second, high));
  }
}

}  // namespace kvplan
