// SPDX-License-Identifier: Apache-2.0
// One or two queries: keys and values become floats in registers and memory sets the time. More:
// tiles become floats once, each lane is a query, and scores need no sums across lanes.
#include <algorithm>

#include "kernels/cpu/softmax_lanes.h"
#include "kernels/cpu/vectors.h"

namespace kvplan {
namespace {

// ---- one or two queries ------------------------------------------------------------------------

template <class Load, int kQueries>
struct Few {
  alignas(64) float weights[kQueries][kTileTokens];

  KVPLAN_AVX512 void score(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                           std::int64_t tokens) {
    for (std::int64_t t = 0; t < tokens; t += 4) {
      const std::byte* keys[4];  // beyond the end the last key again
      for (std::int64_t j = 0; j < 4; ++j)
        keys[j] = kv.keys + (first + std::min(t + j, tokens - 1)) * kv.key_stride;
      __m512 sums[kQueries][4];
      for (auto& row : sums)
        for (__m512& sum : row) sum = _mm512_setzero_ps();
      for (std::int64_t i = 0; i < q.width; i += 16) {
        __m512 query[kQueries];
        for (int r = 0; r < kQueries; ++r)
          query[r] = _mm512_loadu_ps(q.plain.data() + r * q.width + i);
        for (int j = 0; j < 4; ++j) {
          const __m512 key = Load::load(keys[j], i);
          for (int r = 0; r < kQueries; ++r)
            sums[r][j] = _mm512_fmadd_ps(key, query[r], sums[r][j]);
        }
      }
      for (int r = 0; r < kQueries; ++r)
        _mm_store_ps(weights[r] + t,
                     vectors::sums_of_four(sums[r][0], sums[r][1], sums[r][2], sums[r][3]));
    }
  }

  // Scores of query r become weights, times the values' scales.
  KVPLAN_AVX512 void weigh(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                           std::int64_t tokens, int r, AttentionState& state) {
    const std::int64_t seen =
        kv.visible ? std::clamp<std::int64_t>(kv.visible[r] - first, 0, tokens) : tokens;
    __m512 top = _mm512_set1_ps(state.highest[r]);
    for (std::int64_t t = 0; t < seen; t += 16) {
      const __mmask16 mask = mask_of(seen - t);
      __m512 score = _mm512_mul_ps(_mm512_load_ps(weights[r] + t), _mm512_set1_ps(q.score_scale));
      if (kv.key_scales)
        score = _mm512_mul_ps(score, _mm512_maskz_loadu_ps(mask, kv.key_scales + first + t));
      _mm512_store_ps(weights[r] + t, score);
      top = _mm512_mask_max_ps(top, mask, top, score);
    }
    const float highest = _mm512_reduce_max_ps(top);
    const __m512 base = _mm512_set1_ps(highest);
    __m512 sum = _mm512_setzero_ps();
    for (std::int64_t t = 0; t < kTileTokens; t += 16) {
      const __mmask16 mask = mask_of(seen - t);
      __m512 weight = _mm512_maskz_mov_ps(
          mask, vectors::power_of_two(_mm512_sub_ps(_mm512_load_ps(weights[r] + t), base)));
      sum = _mm512_add_ps(sum, weight);
      if (kv.value_scales)
        weight = _mm512_mul_ps(weight, _mm512_maskz_loadu_ps(mask, kv.value_scales + first + t));
      _mm512_store_ps(weights[r] + t, weight);
    }
    const float shrink = _mm512_cvtss_f32(
        vectors::power_of_two(_mm512_set1_ps(std::max(state.highest[r] - highest, -1000.0f))));
    state.highest[r] = highest;
    state.sum[r] = state.sum[r] * shrink + _mm512_reduce_add_ps(sum);
    if (shrink == 1) return;
    float* out = state.out.data() + r * kv.value_width;
    for (std::int64_t i = 0; i < kv.value_width; i += 16)
      _mm512_storeu_ps(out + i, _mm512_mul_ps(_mm512_loadu_ps(out + i), _mm512_set1_ps(shrink)));
  }
  static __mmask16 mask_of(std::int64_t count) {
    return static_cast<__mmask16>((1u << std::clamp<std::int64_t>(count, 0, 16)) - 1);
  }

  // Adds kVectors · 16 numbers of all values from number i on.
  template <int kVectors>
  KVPLAN_AVX512 void add_values(const KvRows& kv, std::int64_t first, std::int64_t tokens,
                                std::int64_t i, AttentionState& state) {
    __m512 sums[kQueries][kVectors];
    for (int r = 0; r < kQueries; ++r)
      for (int v = 0; v < kVectors; ++v)
        sums[r][v] = _mm512_loadu_ps(state.out.data() + r * kv.value_width + i + 16 * v);
    const std::byte* value = kv.values + first * kv.value_stride;
    for (std::int64_t t = 0; t < tokens; ++t, value += kv.value_stride) {
      __m512 weight[kQueries];
      for (int r = 0; r < kQueries; ++r) weight[r] = _mm512_set1_ps(weights[r][t]);
      for (int v = 0; v < kVectors; ++v) {
        const __m512 number = Load::load(value, i + 16 * v);
        for (int r = 0; r < kQueries; ++r)
          sums[r][v] = _mm512_fmadd_ps(number, weight[r], sums[r][v]);
      }
    }
    for (int r = 0; r < kQueries; ++r)
      for (int v = 0; v < kVectors; ++v)
        _mm512_storeu_ps(state.out.data() + r * kv.value_width + i + 16 * v, sums[r][v]);
  }

  KVPLAN_AVX512 static void run(const QueryBlock& q, const KvRows& kv, AttentionState& state) {
    Few tile{};
    for (std::int64_t first = 0; first < kv.tokens; first += kTileTokens) {
      const std::int64_t tokens = std::min(kTileTokens, kv.tokens - first);
      tile.score(q, kv, first, tokens);
      for (int r = 0; r < kQueries; ++r) tile.weigh(q, kv, first, tokens, r, state);
      std::int64_t i = 0;
      for (; i + 128 <= kv.value_width; i += 128)
        tile.template add_values<8>(kv, first, tokens, i, state);
      for (; i + 32 <= kv.value_width; i += 32)
        tile.template add_values<2>(kv, first, tokens, i, state);
    }
  }
};

// ---- up to 16 queries --------------------------------------------------------------------------

constexpr std::int64_t kDecoded = 16;  // tokens that are floats at a time

template <class Load>
struct Many {
  alignas(64) float keys[kDecoded][kMaxKeyWidth], values[kDecoded][kMaxValueWidth];
  LaneScores scores;

  KVPLAN_AVX512 static void decode(const std::byte* row, std::int64_t width, float* to) {
    for (std::int64_t i = 0; i < width; i += 16) _mm512_store_ps(to + i, Load::load(row, i));
  }

  // Eight tokens at a time: eight independent sums hide the latency of each.
  KVPLAN_AVX512 void score(const QueryBlock& q, std::int64_t at) {
    for (std::int64_t t = 0; t < kDecoded; t += 8) {
      __m512 sums[8];
      for (__m512& sum : sums) sum = _mm512_setzero_ps();
      for (std::int64_t i = 0; i < q.width; ++i) {
        const __m512 query = _mm512_loadu_ps(q.lanes.data() + i * kQueryLanes);
        for (int j = 0; j < 8; ++j)
          sums[j] = _mm512_fmadd_ps(_mm512_set1_ps(keys[t + j][i]), query, sums[j]);
      }
      for (int j = 0; j < 8; ++j) _mm512_store_ps(scores.of[at + t + j], sums[j]);
    }
  }
  // The same where half of the lanes would be empty.
  KVPLAN_AVX512 void score_half(const QueryBlock& q, std::int64_t at) {
    for (std::int64_t t = 0; t < kDecoded; t += 8) {
      __m256 sums[8];
      for (__m256& sum : sums) sum = _mm256_setzero_ps();
      for (std::int64_t i = 0; i < q.width; ++i) {
        const __m256 query = _mm256_loadu_ps(q.lanes.data() + i * kQueryLanes);
        for (int j = 0; j < 8; ++j)
          sums[j] = _mm256_fmadd_ps(_mm256_set1_ps(keys[t + j][i]), query, sums[j]);
      }
      for (int j = 0; j < 8; ++j)
        _mm512_store_ps(scores.of[at + t + j], _mm512_zextps256_ps512(sums[j]));
    }
  }

  // Four queries and 64 numbers at a time stay in registers.
  template <int kVectors>
  KVPLAN_AVX512 void add_values(std::int64_t at, std::int64_t tokens, std::int64_t r0,
                                std::int64_t i, AttentionState& state) const {
    __m512 sums[4][kVectors];
    for (int r = 0; r < 4; ++r)
      for (int v = 0; v < kVectors; ++v)
        sums[r][v] = _mm512_loadu_ps(state.out.data() + (r0 + r) * state.value_width + i + 16 * v);
    for (std::int64_t t = 0; t < tokens; ++t) {
      __m512 numbers[kVectors];
      for (int v = 0; v < kVectors; ++v) numbers[v] = _mm512_load_ps(values[t] + i + 16 * v);
      for (int r = 0; r < 4; ++r) {
        const __m512 weight = _mm512_set1_ps(scores.of[at + t][r0 + r]);
        for (int v = 0; v < kVectors; ++v)
          sums[r][v] = _mm512_fmadd_ps(numbers[v], weight, sums[r][v]);
      }
    }
    for (int r = 0; r < 4; ++r)
      for (int v = 0; v < kVectors; ++v)
        _mm512_storeu_ps(state.out.data() + (r0 + r) * state.value_width + i + 16 * v, sums[r][v]);
  }

  KVPLAN_AVX512 void scale_state(const float (&shrink)[kQueryLanes], std::int64_t rows,
                                 AttentionState& state) const {
    for (std::int64_t r = 0; r < rows; ++r) {
      float* out = state.out.data() + r * state.value_width;
      for (std::int64_t i = 0; i < state.value_width; i += 16)
        _mm512_storeu_ps(out + i,
                         _mm512_mul_ps(_mm512_loadu_ps(out + i), _mm512_set1_ps(shrink[r])));
    }
  }

  KVPLAN_AVX512 void scale_by_values(const KvRows& kv, std::int64_t first, std::int64_t tokens) {
    for (std::int64_t t = 0; t < tokens; ++t)
      _mm512_store_ps(scores.of[t], _mm512_mul_ps(_mm512_load_ps(scores.of[t]),
                                                  _mm512_set1_ps(kv.value_scales[first + t])));
  }

  KVPLAN_AVX512 void add_tile(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                              std::int64_t tokens, AttentionState& state) {
    for (std::int64_t at = 0; at < tokens; at += kDecoded) {
      const std::int64_t count = std::min(kDecoded, tokens - at);
      for (std::int64_t t = 0; t < count; ++t)
        decode(kv.keys + (first + at + t) * kv.key_stride, q.width, keys[t]);
      if (q.rows > 8)
        score(q, at);
      else
        score_half(q, at);
    }
    alignas(64) float shrink[kQueryLanes];
    if (weigh(q, kv, first, tokens, scores, state, shrink)) scale_state(shrink, q.rows, state);
    if (kv.value_scales) scale_by_values(kv, first, tokens);
    for (std::int64_t at = 0; at < tokens; at += kDecoded) {
      const std::int64_t count = std::min(kDecoded, tokens - at);
      for (std::int64_t t = 0; t < count; ++t)
        decode(kv.values + (first + at + t) * kv.value_stride, kv.value_width, values[t]);
      for (std::int64_t r0 = 0; r0 < q.rows; r0 += 4) {
        std::int64_t i = 0;
        for (; i + 64 <= kv.value_width; i += 64) add_values<4>(at, count, r0, i, state);
        for (; i < kv.value_width; i += 32) add_values<2>(at, count, r0, i, state);
      }
    }
  }

  KVPLAN_AVX512 static void run(const QueryBlock& q, const KvRows& kv, AttentionState& state) {
    Many tile{};  // zeros: tokens beyond the end have finite scores, and no weight
    for (std::int64_t first = 0; first < kv.tokens; first += kTileTokens)
      tile.add_tile(q, kv, first, std::min(kTileTokens, kv.tokens - first), state);
  }
};

template <class Load>
AttentionKernel kernel_for(std::int64_t queries) {
  if (queries == 1) return Few<Load, 1>::run;
  if (queries == 2) return Few<Load, 2>::run;
  return Many<Load>::run;
}

}  // namespace

AttentionKernel attention_avx512(const Format& format, std::int64_t queries) {
  if (format.name == "fp32") return kernel_for<vectors::Fp32>(queries);
  if (format.name == "bf16") return kernel_for<vectors::Bf16>(queries);
  if (format.name == "fp16") return kernel_for<vectors::Fp16>(queries);
  if (format.name == "fp8") return kernel_for<vectors::Fp8>(queries);
  if (format.name == "int8-head") return kernel_for<vectors::Int8>(queries);
  return nullptr;
}

}  // namespace kvplan
