// SPDX-License-Identifier: Apache-2.0
// Keys and values become floats in registers. Up to four queries pass over a tile of tokens at a
// time; the tile stays in the first-level cache for the next four.
#include <algorithm>

#include "kernels/cpu/softmax_rows.h"
#include "kernels/cpu/vectors.h"

namespace kvplan {
namespace {

constexpr std::int64_t kAhead = kTileTokens;  // tokens: the next tile comes while this one is used

// Queries r0 to r0 + kQueries of a block.
template <class Load, int kQueries, bool kNear>
struct Together {
  alignas(64) float weights[kQueries][kTileTokens];

  KVPLAN_AVX512 void score(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                           std::int64_t tokens, std::int64_t r0) {
    const float* queries = q.plain.data() + r0 * q.width;
    for (std::int64_t t = 0; t < tokens; t += 4) {
      const std::byte* keys[4];  // beyond the end the last key again
      for (std::int64_t j = 0; j < 4; ++j)
        keys[j] = kv.keys + (first + std::min(t + j, tokens - 1)) * kv.key_stride;
      if (r0 == 0)
        for (const std::byte* key : keys) fetch(key, kv.key_stride);
      __m512 sums[kQueries][4];
      for (auto& row : sums)
        for (__m512& sum : row) sum = _mm512_setzero_ps();
      for (std::int64_t i = 0; i < q.width; i += 16) {
        __m512 query[kQueries];
        for (int r = 0; r < kQueries; ++r) query[r] = _mm512_loadu_ps(queries + r * q.width + i);
        for (int j = 0; j < 4; ++j) {
          const __m512 key = Load::load(keys[j], i);
          for (int r = 0; r < kQueries; ++r)
            sums[r][j] = _mm512_fmadd_ps(key, query[r], sums[r][j]);
        }
      }
      for (int r = 0; r < kQueries; ++r)
        _mm_store_ps(weights[r] + t,
                     vectors::folded<vectors::Sum>(sums[r][0], sums[r][1], sums[r][2], sums[r][3]));
    }
  }

  [[gnu::always_inline]] static void fetch(const std::byte* row, std::int64_t stride) {
    if constexpr (kNear)
      vectors::fetch_near(row, stride);
    else
      vectors::fetch(row + kAhead * stride, stride);
  }

  KVPLAN_AVX512 void scale_weights(const KvRows& kv, std::int64_t first, std::int64_t tokens) {
    if (!kv.value_scales) return;
    for (auto& row : weights)
      for (std::int64_t t = 0; t < tokens; t += 16)
        _mm512_store_ps(row + t, _mm512_mul_ps(_mm512_load_ps(row + t),
                                               _mm512_maskz_loadu_ps(vectors::mask_of(tokens - t),
                                                                     kv.value_scales + first + t)));
  }

  // Adds kVectors · 16 numbers of all values from number i on.
  template <int kVectors>
  KVPLAN_AVX512 void add_values(const KvRows& kv, std::int64_t first, std::int64_t tokens,
                                std::int64_t i, bool fetches, float* out) {
    __m512 sums[kQueries][kVectors];
    for (int r = 0; r < kQueries; ++r)
      for (int v = 0; v < kVectors; ++v)
        sums[r][v] = _mm512_loadu_ps(out + r * kv.value_width + i + 16 * v);
    const std::byte* value = kv.values + first * kv.value_stride;
    for (std::int64_t t = 0; t < tokens; ++t, value += kv.value_stride) {
      if (fetches) fetch(value, kv.value_stride);
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
        _mm512_storeu_ps(out + r * kv.value_width + i + 16 * v, sums[r][v]);
  }

  KVPLAN_AVX512 static void add(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                                std::int64_t tokens, std::int64_t r0, AttentionState& state) {
    constexpr int kVectors = kQueries == 4 ? 4 : 8;  // sums that stay in registers
    Together tile;
    tile.score(q, kv, first, tokens, r0);
    weigh<vectors::PowerOfTwo, kQueries>(q, kv, first, tokens, r0, tile.weights, state);
    tile.scale_weights(kv, first, tokens);
    float* out = state.out.data() + r0 * kv.value_width;
    std::int64_t i = 0;
    for (; i + 16 * kVectors <= kv.value_width; i += 16 * kVectors)
      tile.template add_values<kVectors>(kv, first, tokens, i, r0 == 0 && i == 0, out);
    for (; i + 32 <= kv.value_width; i += 32)
      tile.template add_values<2>(kv, first, tokens, i, r0 == 0 && i == 0, out);
  }
};

template <class Load, bool kNear>
KVPLAN_AVX512 void run(const QueryBlock& q, const KvRows& kv, AttentionState& state) {
  for (std::int64_t first = 0; first < kv.tokens; first += kTileTokens) {
    const std::int64_t tokens = std::min(kTileTokens, kv.tokens - first);
    std::int64_t r = 0;
    for (; r + 4 <= q.rows; r += 4) Together<Load, 4, kNear>::add(q, kv, first, tokens, r, state);
    for (; r + 2 <= q.rows; r += 2) Together<Load, 2, kNear>::add(q, kv, first, tokens, r, state);
    for (; r < q.rows; ++r) Together<Load, 1, kNear>::add(q, kv, first, tokens, r, state);
  }
}

template <bool kNear>
AttentionKernel kernel(const Format& format) {
  if (format.name == "fp32") return run<vectors::Fp32, kNear>;
  if (format.name == "bf16") return run<vectors::Bf16, kNear>;
  if (format.name == "fp16") return run<vectors::Fp16, kNear>;
  if (format.name == "fp8") return run<vectors::Fp8, kNear>;
  if (format.name == "int8-head") return run<vectors::Int8, kNear>;
  return nullptr;
}

}  // namespace

AttentionKernel attention_avx512(const Format& format, bool near) {
  return near ? kernel<true>(format) : kernel<false>(format);
}

}  // namespace kvplan
