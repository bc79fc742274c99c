// SPDX-License-Identifier: Apache-2.0
// Scores of a tile in products of pairs of bf16. The lanes are queries times pairs of numbers: a
// piece of a key, repeated for each query, meets that piece of all queries.
#pragma once
#include <algorithm>
#include <type_traits>

#include "kernels/cpu/pairs.h"
#include "kernels/cpu/softmax_rows.h"

namespace kvplan {

using pairs::as_bf16;

// 64 / kQueries bytes, once for every query.
template <int kQueries>
[[gnu::always_inline]] KVPLAN_DOT inline __m512bh repeated(const std::byte* from) {
  if constexpr (kQueries == 4)
    return as_bf16(_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
  if constexpr (kQueries == 8)
    return as_bf16(_mm512_set1_epi64(*reinterpret_cast<const long long*>(from)));
  return as_bf16(_mm512_set1_epi32(*reinterpret_cast<const std::int32_t*>(from)));
}

// Sums of neighbouring lanes of both, in 128 bits those of a before those of b.
[[gnu::always_inline]] KVPLAN_DOT inline __m512 neighbours(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
}

// 128 bits i of `four` are four tokens of row `first` + i · `step`.
[[gnu::always_inline]] KVPLAN_DOT inline void store_rows(__m512 four, float* first,
                                                         std::int64_t step) {
  step *= kTileTokens;
  _mm_store_ps(first, _mm512_castps512_ps128(four));
  _mm_store_ps(first + step, _mm512_extractf32x4_ps(four, 1));
  _mm_store_ps(first + 2 * step, _mm512_extractf32x4_ps(four, 2));
  _mm_store_ps(first + 3 * step, _mm512_extractf32x4_ps(four, 3));
}

// Sums of four tokens, whose lanes are kQueries times 16 / kQueries parts, become scores.
template <int kQueries>
[[gnu::always_inline]] KVPLAN_DOT inline void store_scores(const __m512* sums, float* scores) {
  if constexpr (kQueries == 16) {
    const __m512 low01 = _mm512_unpacklo_ps(sums[0], sums[1]),
                 high01 = _mm512_unpackhi_ps(sums[0], sums[1]),
                 low23 = _mm512_unpacklo_ps(sums[2], sums[3]),
                 high23 = _mm512_unpackhi_ps(sums[2], sums[3]);
    store_rows(_mm512_shuffle_ps(low01, low23, 0x44), scores, 4);
    store_rows(_mm512_shuffle_ps(low01, low23, 0xee), scores + kTileTokens, 4);
    store_rows(_mm512_shuffle_ps(high01, high23, 0x44), scores + 2 * kTileTokens, 4);
    store_rows(_mm512_shuffle_ps(high01, high23, 0xee), scores + 3 * kTileTokens, 4);
    return;
  }
  const __m512 first = neighbours(sums[0], sums[1]), second = neighbours(sums[2], sums[3]);
  if constexpr (kQueries == 8) {
    store_rows(_mm512_shuffle_ps(first, second, 0x88), scores, 2);
    store_rows(_mm512_shuffle_ps(first, second, 0xdd), scores + kTileTokens, 2);
    return;
  }
  store_rows(neighbours(first, second), scores, 1);
}

// What the next tile needs is asked for in order and a little at a time: the processor has few
// requests on their way at once, and its own prefetchers follow.
template <int kQueries>
KVPLAN_DOT inline void fetch_of_eight(const std::byte* keys, std::int64_t at) {
  // A step takes 64 / kQueries bytes of eight keys: 8 / kQueries lines.
  if constexpr (kQueries <= 8)
    vectors::fetch(keys + 8 * at, 512 / kQueries);
  else if (at % 8 == 0)
    vectors::fetch(keys + 8 * at, 64);
}

// Eight keys as bf16; beyond the end of a tile the last one again, which gets no weight. Keys of
// other formats are converted once for all queries.
template <class Stored>
struct EightKeys {
  static constexpr bool kInPlace = std::is_same_v<Stored, pairs::Bf16>;
  const std::byte* of[8];
  alignas(64) std::byte converted[kInPlace ? 1 : 8][kInPlace ? 64 : 2 * kMaxKeyWidth];

  KVPLAN_DOT EightKeys(const Stored& stored, const QueryBlock& q, const std::byte* key,
                       std::int64_t stride, std::int64_t count) {
    for (int j = 0; j < 8; ++j) {
      of[j] = key;
      if constexpr (!kInPlace) {
        vectors::fetch(key + kTileTokens * stride, stride);
        of[j] = converted[j];
        for (std::int64_t i = 0; i < q.width; i += 64) convert(stored, key, i, q.width, j);
      }
      if (j + 1 < count) key += stride;
    }
  }

 private:
  KVPLAN_DOT void convert(const Stored& stored, const std::byte* key, std::int64_t i,
                          std::int64_t width, int j) {
    i = std::min(i, std::max<std::int64_t>(width - 64, 0));
    const pairs::Words words = stored.row(key, i);
    _mm512_storeu_si512(converted[j] + 2 * i, words.low);
    _mm512_storeu_si512(converted[j] + 2 * i + 64, words.high);
  }
};

// Eight tokens at a time: eight independent sums hide the latency of each.
template <class Stored, int kQueries>
KVPLAN_DOT void score(const Stored& stored, const QueryBlock& q, const KvRows& kv,
                      std::int64_t first, std::int64_t tokens, ScoreRow* scores) {
  constexpr std::int64_t kStep = 64 / kQueries;  // bytes of a key
  for (std::int64_t t = 0; t < tokens; t += 8) {
    const std::byte* from = kv.keys + (first + t) * kv.key_stride;
    const EightKeys<Stored> keys(stored, q, from, kv.key_stride, tokens - t);
    __m512 sums[8];
    for (__m512& sum : sums) sum = _mm512_setzero_ps();
    const std::uint32_t* pairs = q.pairs.data();
    for (std::int64_t at = 0; at < 2 * q.width; at += kStep, pairs += kQueryLanes) {
      const __m512bh query = as_bf16(_mm512_load_si512(pairs));
      if constexpr (EightKeys<Stored>::kInPlace)
        fetch_of_eight<kQueries>(from + kTileTokens * kv.key_stride, at);
      for (int j = 0; j < 8; ++j)
        sums[j] = _mm512_dpbf16_ps(sums[j], query, repeated<kQueries>(keys.of[j] + at));
    }
    store_scores<kQueries>(sums, scores[0] + t);
    store_scores<kQueries>(sums + 4, scores[0] + t + 4);
  }
}

}  // namespace kvplan
