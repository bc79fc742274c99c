// SPDX-License-Identifier: Apache-2.0
// Softmax of a tile whose scores lie [token][16 queries]: all operations go down the tokens, and no
// lane needs another.
#pragma once
#include <algorithm>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/vectors.h"

namespace kvplan {

struct LaneScores {
  alignas(64) float of[kTileTokens][kQueryLanes];
};

// Scores become weights 2^(score - highest), the state's sums follow, and `shrink` says by what the
// state's values must be multiplied before new ones are added. False: by 1, all of them.
KVPLAN_AVX512 inline bool weigh(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                                std::int64_t tokens, LaneScores& scores, AttentionState& state,
                                float (&shrink)[kQueryLanes]) {
  const __m512 scale = _mm512_set1_ps(q.score_scale);
  const __m512 before = _mm512_loadu_ps(state.highest.data());
  alignas(64) std::int32_t visible[kQueryLanes];
  for (std::int64_t r = 0; r < kQueryLanes; ++r) {
    const std::int64_t all = first + tokens;
    const std::int64_t end = r >= q.rows ? 0 : kv.visible ? std::min(kv.visible[r], all) : all;
    visible[r] = static_cast<std::int32_t>(std::max<std::int64_t>(end - first, 0));
  }
  const __m512i ends = _mm512_load_si512(visible);
  __m512 top = before;
  for (std::int64_t t = 0; t < tokens; ++t) {
    const __m512 factor =
        kv.key_scales ? _mm512_mul_ps(scale, _mm512_set1_ps(kv.key_scales[first + t])) : scale;
    const __mmask16 seen =
        _mm512_cmpgt_epi32_mask(ends, _mm512_set1_epi32(static_cast<std::int32_t>(t)));
    const __m512 score = _mm512_mul_ps(_mm512_load_ps(scores.of[t]), factor);
    _mm512_store_ps(scores.of[t], score);
    top = _mm512_mask_max_ps(top, seen, top, score);
  }
  __m512 sum = _mm512_setzero_ps();
  for (std::int64_t t = 0; t < tokens; ++t) {
    const __mmask16 seen =
        _mm512_cmpgt_epi32_mask(ends, _mm512_set1_epi32(static_cast<std::int32_t>(t)));
    const __m512 below = _mm512_sub_ps(_mm512_load_ps(scores.of[t]), top);
    const __m512 weight = _mm512_maskz_mov_ps(seen, vectors::power_of_two(below));
    sum = _mm512_add_ps(sum, weight);
    _mm512_store_ps(scores.of[t], weight);
  }
  const __m512 factor = vectors::power_of_two(_mm512_sub_ps(before, top));
  _mm512_storeu_ps(shrink, factor);
  _mm512_storeu_ps(state.highest.data(), top);
  _mm512_storeu_ps(state.sum.data(),
                   _mm512_fmadd_ps(_mm512_loadu_ps(state.sum.data()), factor, sum));
  return _mm512_cmp_ps_mask(factor, _mm512_set1_ps(1), _CMP_NEQ_OQ) != 0;
}

}  // namespace kvplan
