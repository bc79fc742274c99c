// SPDX-License-Identifier: Apache-2.0
// Softmax of a tile whose scores lie [query][token]: 16 tokens of a query at a time, so that all
// lanes work however few queries there are. What is one number a query is done for all at once.
#pragma once
#include <algorithm>
#include <limits>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/vectors.h"

namespace kvplan {

using ScoreRow = float[kTileTokens];

namespace vectors {

KVPLAN_AVX512 inline __mmask16 mask_of(std::int64_t count) {
  return static_cast<__mmask16>((1u << std::clamp<std::int64_t>(count, 0, 16)) - 1);
}

}  // namespace vectors

// Queries r0 to r0 + kRows of a block and their scores of tokens from `first` on.
template <class Power, int kRows>  // Power: of two
class SoftmaxTile {
 public:
  KVPLAN_AVX512 SoftmaxTile(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                            std::int64_t tokens, std::int64_t r0, ScoreRow* scores)
      : q_(q), kv_(kv), first_(first), tokens_(tokens), r0_(r0), scores_(scores) {}

  // Scores become weights 2^(score - highest), the state follows, and its values shrink where a
  // higher score came.
  KVPLAN_AVX512 void weigh(AttentionState& state) const {
    const __mmask16 rows = vectors::mask_of(kRows);
    float *highest = state.highest.data() + r0_, *sum = state.sum.data() + r0_;
    const __m512 scale = _mm512_set1_ps(q_.score_scale);
    const __m512 before = _mm512_maskz_loadu_ps(rows, highest);
    const __m512 after = _mm512_max_ps(before, _mm512_mul_ps(highest_scores(), scale));
    const __mmask16 higher = _mm512_mask_cmp_ps_mask(rows, after, before, _CMP_GT_OQ);
    const __m512 step = _mm512_max_ps(_mm512_sub_ps(before, after), _mm512_set1_ps(-1000));
    const __m512 shrink = _mm512_mask_mov_ps(_mm512_set1_ps(1), higher, Power::of(step));
    alignas(64) float bases[kQueryLanes], shrinks[kQueryLanes];
    _mm512_store_ps(bases, after);
    _mm512_store_ps(shrinks, shrink);
    _mm512_mask_storeu_ps(highest, rows, after);
    const __m512 sums = sums_of_weights(bases);
    _mm512_mask_storeu_ps(sum, rows,
                          _mm512_fmadd_ps(_mm512_maskz_loadu_ps(rows, sum), shrink, sums));
    for (int r = 0; r < kRows; ++r)
      if (higher >> r & 1) multiply(state.out.data() + (r0_ + r) * kv_.value_width, shrinks[r]);
  }

 private:
  static constexpr int kFours = (kRows + 3) / 4;

  std::int64_t seen(int r) const {
    return kv_.visible ? std::clamp<std::int64_t>(kv_.visible[r0_ + r] - first_, 0, tokens_)
                       : tokens_;
  }

  // Of each row, after times the keys' scales; the lowest number where it sees nothing.
  KVPLAN_AVX512 __m512 highest_scores() const {
    alignas(64) float all[kQueryLanes] = {};
    for (int four = 0; four < kFours; ++four) {
      __m512 top[4];
      for (int j = 0; j < 4; ++j)
        top[j] = 4 * four + j < kRows ? highest_of(4 * four + j) : _mm512_setzero_ps();
      _mm_store_ps(all + 4 * four,
                   vectors::folded<vectors::Maximum>(top[0], top[1], top[2], top[3]));
    }
    return _mm512_load_ps(all);
  }
  KVPLAN_AVX512 __m512 highest_of(int r) const {
    float* scores = scores_[r];
    __m512 top = _mm512_set1_ps(std::numeric_limits<float>::lowest());
    const std::int64_t count = seen(r);
    for (std::int64_t t = 0; t < count; t += 16) {
      const __mmask16 mask = vectors::mask_of(count - t);
      __m512 score = _mm512_load_ps(scores + t);
      if (kv_.key_scales) {
        score = _mm512_mul_ps(score, _mm512_maskz_loadu_ps(mask, kv_.key_scales + first_ + t));
        _mm512_store_ps(scores + t, score);
      }
      top = _mm512_mask_max_ps(top, mask, top, score);
    }
    return top;
  }

  KVPLAN_AVX512 __m512 sums_of_weights(const float* bases) const {
    alignas(64) float all[kQueryLanes] = {};
    for (int four = 0; four < kFours; ++four) {
      __m512 sum[4];
      for (int j = 0; j < 4; ++j)
        sum[j] = 4 * four + j < kRows ? weigh_row(4 * four + j, bases[4 * four + j])
                                      : _mm512_setzero_ps();
      _mm_store_ps(all + 4 * four, vectors::folded<vectors::Sum>(sum[0], sum[1], sum[2], sum[3]));
    }
    return _mm512_load_ps(all);
  }
  KVPLAN_AVX512 __m512 weigh_row(int r, float highest) const {
    float* scores = scores_[r];
    const __m512 base = _mm512_set1_ps(highest), scale = _mm512_set1_ps(q_.score_scale);
    const std::int64_t count = seen(r);
    __m512 sum = _mm512_setzero_ps();
    for (std::int64_t t = 0; t < kTileTokens; t += 16) {
      const __m512 below = _mm512_fmsub_ps(_mm512_load_ps(scores + t), scale, base);
      const __m512 weight = _mm512_maskz_mov_ps(vectors::mask_of(count - t), Power::of(below));
      sum = _mm512_add_ps(sum, weight);
      _mm512_store_ps(scores + t, weight);
    }
    return sum;
  }

  KVPLAN_AVX512 void multiply(float* out, float by) const {
    for (std::int64_t i = 0; i < kv_.value_width; i += 16)
      _mm512_storeu_ps(out + i, _mm512_mul_ps(_mm512_loadu_ps(out + i), _mm512_set1_ps(by)));
  }

  const QueryBlock& q_;
  const KvRows& kv_;
  std::int64_t first_, tokens_, r0_;
  ScoreRow* scores_;
};

template <class Power, int kRows>
KVPLAN_AVX512 void weigh(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                         std::int64_t tokens, std::int64_t r0, ScoreRow* scores,
                         AttentionState& state) {
  SoftmaxTile<Power, kRows>(q, kv, first, tokens, r0, scores).weigh(state);
}

}  // namespace kvplan
