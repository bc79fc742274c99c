// SPDX-License-Identifier: Apache-2.0
// bf16 keys and values in dot-product instructions. Lanes are queries for scores: a pair of a key's
// numbers meets pairs of 16 queries. For values a pair is two tokens, and weights are rounded to
// bf16, as the tensor cores of a GPU have them.
#include <algorithm>

#include "kernels/cpu/softmax_lanes.h"
#include "kernels/cpu/vectors.h"

namespace kvplan {
namespace {

KVPLAN_DOT inline __m512bh as_bf16(__m512i v) { return reinterpret_cast<__m512bh>(v); }
KVPLAN_DOT inline __m256bh as_bf16(__m256i v) { return reinterpret_cast<__m256bh>(v); }

struct Tile {
  LaneScores scores;
  alignas(64) std::uint32_t weights[kTileTokens / 2][kQueryLanes];  // bf16 of two tokens

  // Eight tokens at a time: eight independent sums hide the latency of each.
  KVPLAN_DOT void score(const QueryBlock& q, const std::byte* const (&keys)[8], std::int64_t at) {
    __m512 sums[8];
    for (__m512& sum : sums) sum = _mm512_setzero_ps();
    for (std::int64_t i = 0; i < q.width / 2; ++i) {
      const __m512bh query = as_bf16(_mm512_loadu_si512(q.pairs.data() + i * kQueryLanes));
      for (int j = 0; j < 8; ++j)
        sums[j] = _mm512_dpbf16_ps(sums[j], query, as_bf16(_mm512_set1_epi32(pair(keys[j], i))));
    }
    for (int j = 0; j < 8; ++j) _mm512_store_ps(scores.of[at + j], sums[j]);
  }
  // The same where half of the lanes would be empty.
  KVPLAN_DOT void score_half(const QueryBlock& q, const std::byte* const (&keys)[8],
                             std::int64_t at) {
    __m256 sums[8];
    for (__m256& sum : sums) sum = _mm256_setzero_ps();
    for (std::int64_t i = 0; i < q.width / 2; ++i) {
      const __m256bh query = as_bf16(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q.pairs.data() + i * kQueryLanes)));
      for (int j = 0; j < 8; ++j)
        sums[j] = _mm256_dpbf16_ps(sums[j], query, as_bf16(_mm256_set1_epi32(pair(keys[j], i))));
    }
    for (int j = 0; j < 8; ++j) _mm512_store_ps(scores.of[at + j], _mm512_zextps256_ps512(sums[j]));
  }
  static std::int32_t pair(const std::byte* key, std::int64_t i) {
    return reinterpret_cast<const std::int32_t*>(key)[i];
  }

  KVPLAN_DOT void pack_weights(std::int64_t tokens) {
    const __m512i round = _mm512_set1_epi32(0x8000), upper = _mm512_set1_epi32(~0xffff);
    for (std::int64_t t = 0; t < tokens; t += 2) {
      const __m512i zero = _mm512_setzero_si512();
      const __m512i even = _mm512_add_epi32(_mm512_load_si512(scores.of[t]), round);
      const __m512i odd =
          t + 1 < tokens ? _mm512_add_epi32(_mm512_load_si512(scores.of[t + 1]), round) : zero;
      _mm512_store_si512(weights[t / 2], _mm512_or_si512(_mm512_srli_epi32(even, 16),
                                                         _mm512_and_si512(odd, upper)));
    }
  }

  // Numbers [i, i + 32) of all values, for kQueries queries from r0 on. Interleaving two tokens'
  // values leaves the numbers in the order of `unpacked`, in which the state is kept meanwhile.
  template <int kQueries>
  KVPLAN_DOT void add_values(const KvRows& kv, std::int64_t first, std::int64_t tokens,
                             std::int64_t r0, std::int64_t i, AttentionState& state) const {
    __m512 low[kQueries], high[kQueries];
    float* out = state.out.data() + r0 * kv.value_width + i;
    for (int r = 0; r < kQueries; ++r) {
      low[r] = _mm512_loadu_ps(out + r * kv.value_width);
      high[r] = _mm512_loadu_ps(out + r * kv.value_width + 16);
    }
    const std::byte* value = kv.values + first * kv.value_stride + 2 * i;
    for (std::int64_t t = 0; t < tokens; t += 2, value += 2 * kv.value_stride) {
      if (r0 == 0 && i == 0)
        vectors::fetch(value + kTileTokens * kv.value_stride, 2 * kv.value_stride);
      const __m512i even = _mm512_loadu_si512(value);
      const __m512i odd = _mm512_loadu_si512(value + (t + 1 < tokens ? kv.value_stride : 0));
      const __m512bh lower = as_bf16(_mm512_unpacklo_epi16(even, odd));
      const __m512bh upper = as_bf16(_mm512_unpackhi_epi16(even, odd));
      for (int r = 0; r < kQueries; ++r) {
        const __m512bh weight =
            as_bf16(_mm512_set1_epi32(static_cast<std::int32_t>(weights[t / 2][r0 + r])));
        low[r] = _mm512_dpbf16_ps(low[r], lower, weight);
        high[r] = _mm512_dpbf16_ps(high[r], upper, weight);
      }
    }
    for (int r = 0; r < kQueries; ++r) {
      _mm512_storeu_ps(out + r * kv.value_width, low[r]);
      _mm512_storeu_ps(out + r * kv.value_width + 16, high[r]);
    }
  }

  KVPLAN_DOT void add(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                      std::int64_t tokens, AttentionState& state) {
    for (std::int64_t t = 0; t < tokens; t += 8) {
      const std::byte* keys[8];  // beyond the end the last key again; it gets no weight
      for (std::int64_t j = 0; j < 8; ++j)
        keys[j] = kv.keys + (first + std::min(t + j, tokens - 1)) * kv.key_stride;
      for (const std::byte* key : keys)
        vectors::fetch(key + kTileTokens * kv.key_stride, kv.key_stride);
      if (q.rows > 8)
        score(q, keys, t);
      else
        score_half(q, keys, t);
    }
    alignas(64) float shrink[kQueryLanes];
    if (weigh(q, kv, first, tokens, scores, state, shrink)) {
      for (std::int64_t r = 0; r < q.rows; ++r)
        for (std::int64_t i = r * kv.value_width; i < (r + 1) * kv.value_width; i += 16)
          _mm512_storeu_ps(
              state.out.data() + i,
              _mm512_mul_ps(_mm512_loadu_ps(state.out.data() + i), _mm512_set1_ps(shrink[r])));
    }
    pack_weights(tokens);
    for (std::int64_t i = 0; i < kv.value_width; i += 32)
      for (std::int64_t r0 = 0; r0 < q.rows;) {
        const std::int64_t left = q.rows - r0;
        if (left > 4)
          add_values<8>(kv, first, tokens, r0, i, state), r0 += 8;
        else
          add_values<4>(kv, first, tokens, r0, i, state), r0 += 4;
      }
  }
};

// Where the numbers of 32 lie while a state is unpacked: unpacklo and unpackhi work on 128 bits.
constexpr std::int64_t unpacked(std::int64_t i) { return i % 4 + i / 8 * 4 + i / 4 % 2 * 16; }

void permute(AttentionState& state, std::int64_t rows, bool unpack) {
  float copy[32];
  for (std::int64_t at = 0; at < rows * state.value_width; at += 32) {
    float* numbers = state.out.data() + at;
    std::copy_n(numbers, 32, copy);
    for (std::int64_t i = 0; i < 32; ++i) {
      if (unpack)
        numbers[unpacked(i)] = copy[i];
      else
        numbers[i] = copy[unpacked(i)];
    }
  }
}

KVPLAN_DOT void run(const QueryBlock& q, const KvRows& kv, AttentionState& state) {
  Tile tile;
  permute(state, q.rows, true);
  for (std::int64_t first = 0; first < kv.tokens; first += kTileTokens)
    tile.add(q, kv, first, std::min(kTileTokens, kv.tokens - first), state);
  permute(state, q.rows, false);
}

}  // namespace

AttentionKernel attention_dot(const Format& format, std::int64_t queries) {
  return format.name == "bf16" && queries > 4 ? run : nullptr;  // fewer leave lanes empty
}

}  // namespace kvplan
