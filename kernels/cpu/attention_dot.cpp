// SPDX-License-Identifier: Apache-2.0
// bf16 keys and values in dot-product instructions. For scores the lanes are queries times pairs of
// numbers: a piece of a key, repeated for each query, meets that piece of all queries. For values a
// pair is two tokens, and weights are rounded to bf16, as the tensor cores of a GPU have them.
#include <algorithm>

#include "kernels/cpu/softmax_rows.h"
#include "kernels/cpu/vectors.h"

namespace kvplan {
namespace {

KVPLAN_DOT inline __m512bh as_bf16(__m512i v) { return reinterpret_cast<__m512bh>(v); }

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

struct Tile {
  TileScores scores;
  alignas(64) std::uint16_t weights[kQueryLanes][kTileTokens];  // bf16

  // Eight tokens at a time: eight independent sums hide the latency of each.
  template <int kQueries>
  KVPLAN_DOT void score(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                        std::int64_t tokens) {
    constexpr std::int64_t kStep = 64 / kQueries;  // bytes of a key
    for (std::int64_t t = 0; t < tokens; t += 8) {
      // Beyond the end the last key again; it gets no weight.
      const std::byte* keys[8] = {kv.keys + (first + t) * kv.key_stride};
      for (int j = 1; j < 8; ++j) keys[j] = keys[j - 1] + (t + j < tokens ? kv.key_stride : 0);
      const std::byte* next = keys[0] + kTileTokens * kv.key_stride;
      __m512 sums[8];
      for (__m512& sum : sums) sum = _mm512_setzero_ps();
      const std::uint32_t* pairs = q.pairs.data();
      for (std::int64_t at = 0; at < 2 * q.width; at += kStep, pairs += kQueryLanes) {
        const __m512bh query = as_bf16(_mm512_loadu_si512(pairs));
        fetch_of_eight<kQueries>(next, at);
        for (int j = 0; j < 8; ++j)
          sums[j] = _mm512_dpbf16_ps(sums[j], query, repeated<kQueries>(keys[j] + at));
      }
      store_scores<kQueries>(sums, scores.of[0] + t);
      store_scores<kQueries>(sums + 4, scores.of[0] + t + 4);
    }
  }

  KVPLAN_DOT void pack_weights(std::int64_t rows) {
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t t = 0; t < kTileTokens; t += 32)
        _mm512_store_si512(weights[r] + t, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(
                                               _mm512_load_ps(scores.of[r] + t + 16),
                                               _mm512_load_ps(scores.of[r] + t))));
  }

  // Numbers [i, i + 32 kBlocks) of all values, for kQueries queries from r0 on. Interleaving two
  // tokens' values leaves the numbers in the order of `unpacked`, in which the state is kept.
  template <int kQueries, int kBlocks>
  KVPLAN_DOT void add_values(const KvRows& kv, std::int64_t first, std::int64_t tokens,
                             std::int64_t r0, std::int64_t i, AttentionState& state) const {
    __m512 sums[kQueries][kBlocks][2];
    float* out = state.out.data() + r0 * kv.value_width + i;
    for (int r = 0; r < kQueries; ++r)
      for (int b = 0; b < kBlocks; ++b)
        for (int half = 0; half < 2; ++half)
          sums[r][b][half] = _mm512_loadu_ps(out + r * kv.value_width + 32 * b + 16 * half);
    const std::byte* value = kv.values + first * kv.value_stride + 2 * i;
    const std::byte* next =
        kv.values + (first + kTileTokens) * kv.value_stride + 2 * i * kTileTokens;
    for (std::int64_t t = 0; t < tokens; t += 2, value += 2 * kv.value_stride) {
      const std::byte* second = value + (t + 1 < tokens ? kv.value_stride : 0);
      if (r0 == 0) vectors::fetch(next + 64 * kBlocks * t, 128 * kBlocks);
      __m512bh numbers[kBlocks][2];
      for (int b = 0; b < kBlocks; ++b) {
        const __m512i even = _mm512_loadu_si512(value + 64 * b);
        const __m512i odd = _mm512_loadu_si512(second + 64 * b);
        numbers[b][0] = as_bf16(_mm512_unpacklo_epi16(even, odd));
        numbers[b][1] = as_bf16(_mm512_unpackhi_epi16(even, odd));
      }
      for (int r = 0; r < kQueries; ++r) {
        const __m512bh weight =
            repeated<16>(reinterpret_cast<const std::byte*>(weights[r0 + r] + t));
        for (int b = 0; b < kBlocks; ++b)
          for (int half = 0; half < 2; ++half)
            sums[r][b][half] = _mm512_dpbf16_ps(sums[r][b][half], numbers[b][half], weight);
      }
    }
    for (int r = 0; r < kQueries; ++r)
      for (int b = 0; b < kBlocks; ++b)
        for (int half = 0; half < 2; ++half)
          _mm512_storeu_ps(out + r * kv.value_width + 32 * b + 16 * half, sums[r][b][half]);
  }

  template <int kQueries>
  KVPLAN_DOT void add(const QueryBlock& q, const KvRows& kv, std::int64_t first,
                      std::int64_t tokens, AttentionState& state) {
    score<kQueries>(q, kv, first, tokens);
    for (std::int64_t r = 0; r < q.rows; ++r)
      weigh<vectors::CoarsePowerOfTwo>(q, kv, first, tokens, r, scores.of[r], state);
    pack_weights(q.rows);
    // As many queries and numbers at a time as leave all sums in registers.
    constexpr int kRows = std::min(kQueries, 8), kBlocks = 8 / kRows;
    std::int64_t i = 0;
    for (; i + 32 * kBlocks <= kv.value_width; i += 32 * kBlocks)
      for (std::int64_t r = 0; r < q.rows; r += kRows)
        add_values<kRows, kBlocks>(kv, first, tokens, r, i, state);
    for (; i < kv.value_width; i += 32)
      for (std::int64_t r = 0; r < q.rows; r += kRows)
        add_values<kRows, 1>(kv, first, tokens, r, i, state);
  }
};

// Where the numbers of 32 lie while a state is unpacked: unpacklo and unpackhi work on 128 bits.
constexpr std::int64_t unpacked(std::int64_t i) { return i % 4 + i / 8 * 4 + i / 4 % 2 * 16; }

KVPLAN_DOT void permute(AttentionState& state, std::int64_t rows, bool unpack) {
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

template <int kQueries>
void run_for(const QueryBlock& q, const KvRows& kv, AttentionState& state) {
  Tile tile{};  // rows beyond those of q have no weight
  permute(state, q.rows, true);
  for (std::int64_t first = 0; first < kv.tokens; first += kTileTokens)
    tile.add<kQueries>(q, kv, first, std::min(kTileTokens, kv.tokens - first), state);
  permute(state, q.rows, false);
}

void run(const QueryBlock& q, const KvRows& kv, AttentionState& state) {
  switch (q.padded) {
    case 4:
      return run_for<4>(q, kv, state);
    case 8:
      return run_for<8>(q, kv, state);
    default:
      return run_for<16>(q, kv, state);
  }
}

}  // namespace

AttentionKernel attention_dot(const Format& format, std::int64_t queries) {
  return format.name == "bf16" && queries > 2 ? run : nullptr;  // fewer leave lanes empty
}

}  // namespace kvplan
