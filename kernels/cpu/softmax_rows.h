// SPDX-License-Identifier: Apache-2.0
// Softmax of a tile whose scores lie [query][token]: 16 tokens of a query at a time, so that all
// lanes work however few queries there are.
#pragma once
#include <algorithm>
#include <limits>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/vectors.h"

namespace kvplan {

struct TileScores {
  alignas(64) float of[kQueryLanes][kTileTokens];
};

namespace vectors {

KVPLAN_AVX512 inline __mmask16 mask_of(std::int64_t count) {
  return static_cast<__mmask16>((1u << std::clamp<std::int64_t>(count, 0, 16)) - 1);
}

// Times the keys' scales; the highest, in units of the state, is returned.
KVPLAN_AVX512 inline float highest_of(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                                      std::int64_t seen, float* scores, float before) {
  __m512 top = _mm512_set1_ps(std::numeric_limits<float>::lowest());
  for (std::int64_t t = 0; t < seen; t += 16) {
    const __mmask16 mask = mask_of(seen - t);
    __m512 score = _mm512_load_ps(scores + t);
    if (kv.key_scales) {
      score = _mm512_mul_ps(score, _mm512_maskz_loadu_ps(mask, kv.key_scales + first + t));
      _mm512_store_ps(scores + t, score);
    }
    top = _mm512_mask_max_ps(top, mask, top, score);
  }
  return seen > 0 ? std::max(before, _mm512_reduce_max_ps(top) * q.score_scale) : before;
}

}  // namespace vectors

// Scores of a row become weights 2^(score - highest), the state follows, and its values shrink
// where a higher score came.
template <class Power>  // of two
KVPLAN_AVX512 void weigh(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                         std::int64_t tokens, std::int64_t row, float* scores,
                         AttentionState& state) {
  const std::int64_t seen =
      kv.visible ? std::clamp<std::int64_t>(kv.visible[row] - first, 0, tokens) : tokens;
  const float before = state.highest[row];
  const float highest = vectors::highest_of(q, kv, first, seen, scores, before);
  const __m512 base = _mm512_set1_ps(highest), scale = _mm512_set1_ps(q.score_scale);
  __m512 sum = _mm512_setzero_ps();
  for (std::int64_t t = 0; t < kTileTokens; t += 16) {
    const __m512 below = _mm512_fmsub_ps(_mm512_load_ps(scores + t), scale, base);
    const __m512 weight = _mm512_maskz_mov_ps(vectors::mask_of(seen - t), Power::of(below));
    sum = _mm512_add_ps(sum, weight);
    _mm512_store_ps(scores + t, weight);
  }
  state.highest[row] = highest;
  const float shrink =
      highest == before
          ? 1
          : _mm512_cvtss_f32(Power::of(_mm512_set1_ps(std::max(before - highest, -1000.0f))));
  state.sum[row] = state.sum[row] * shrink + _mm512_reduce_add_ps(sum);
  if (shrink == 1) return;
  float* out = state.out.data() + row * kv.value_width;
  for (std::int64_t i = 0; i < kv.value_width; i += 16)
    _mm512_storeu_ps(out + i, _mm512_mul_ps(_mm512_loadu_ps(out + i), _mm512_set1_ps(shrink)));
}

}  // namespace kvplan
