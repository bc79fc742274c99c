// SPDX-License-Identifier: Apache-2.0
// Queries, keys and values as tiles of pairs of bf16. A pair is two neighbouring numbers of a key,
// or one number of two tokens' values; of fp16 it is one number, as the sum of two.
#pragma once
#include <algorithm>
#include <type_traits>

#include "kernels/cpu/attention.h"
#include "kernels/cpu/line.h"
#include "kernels/cpu/pairs.h"
#include "kernels/cpu/tiles.h"
#include "kernels/cpu/vectors.h"

namespace kvplan {

constexpr std::int64_t kTileWords = tiles::kBytes / 4;  // a tile of 16 · 16 pairs

// Words of this thread for one use, kept between calls: large pieces of memory that are given back
// are filled with zeros, page by page, when they come again.
template <class Use>
std::uint32_t* kept_words(std::int64_t count) {
  thread_local Lines<std::uint32_t> words;
  thread_local std::int64_t size = 0;
  if (size < count) {
    words = Lines<std::uint32_t>(count);
    size = count;
  }
  return words.data();
}

// `kCount` vectors hold words [16][kCount], row after row; they become [kCount][16].
template <int kCount>
[[gnu::always_inline]] KVPLAN_DOT inline void transpose(__m512i* v) {
  if constexpr (kCount > 1) {
    const __m512i even =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
    __m512i evens[kCount / 2], odds[kCount / 2];
    for (int i = 0; i < kCount / 2; ++i) {
      evens[i] = _mm512_permutex2var_epi32(v[2 * i], even, v[2 * i + 1]);
      odds[i] = _mm512_permutex2var_epi32(v[2 * i], odd, v[2 * i + 1]);
    }
    transpose<kCount / 2>(evens);
    transpose<kCount / 2>(odds);
    for (int i = 0; i < kCount / 2; ++i) {
      v[2 * i] = evens[i];
      v[2 * i + 1] = odds[i];
    }
  }
}

// How the numbers of a format lie in tiles.
template <class Stored>
struct TilePacks {
  static constexpr bool kSums = std::is_same_v<Stored, pairs::Fp16>;
  static constexpr bool kInPlace = std::is_same_v<Stored, pairs::Bf16>;  // keys
  static constexpr bool kInts = std::is_same_v<Stored, pairs::Int8>;
  static constexpr bool kUnpacked = !kSums && !kInts;  // values lie in the order of unpacked()
  static constexpr std::int64_t kNumbers = kSums ? 16 : 32;  // of a key that a tile holds
  static constexpr std::int64_t kTokens = kSums ? 16 : 32;   // of values that a tile holds

  Stored stored;

  // [width / kNumbers] tiles of pairs · queries.
  KVPLAN_DOT static void queries(const QueryBlock& q, std::uint32_t* to) {
    for (std::int64_t i = 0; i < q.width; i += kNumbers, to += kTileWords) {
      __m512i rows[16];
      for (std::int64_t r = 0; r < 16; ++r) {
        const std::uint16_t* from = q.bits + r * q.width + i;
        if (r >= q.rows)
          rows[r] = _mm512_setzero_si512();
        else if constexpr (kSums)
          rows[r] = twice(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
        else
          rows[r] = _mm512_loadu_si512(from);
      }
      transpose<16>(rows);
      for (std::int64_t pair = 0; pair < 16; ++pair) _mm512_store_si512(to + 16 * pair, rows[pair]);
    }
  }

  // 16 keys, row after row; beyond `tokens` the last one again.
  KVPLAN_DOT void keys(const KvRows& kv, std::int64_t first, std::int64_t tokens,
                       std::int64_t width, std::byte* to) const {
    const std::int64_t row_bytes = width / kNumbers * tiles::kRowBytes;
    for (std::int64_t t = 0; t < 16; ++t, to += row_bytes) {
      const std::byte* key = kv.keys + (first + std::min(t, tokens - 1)) * kv.key_stride;
      vectors::fetch_near(key, kv.key_stride);
      if constexpr (kSums) {
        for (std::int64_t i = 0; i < width; i += 16)
          _mm512_store_si512(to + 4 * i, stored.sums(key, i));
      } else {
        for (std::int64_t at = 0; at < width; at += 64) {  // the last may meet the one before
          const std::int64_t i = std::min(at, std::max<std::int64_t>(width - 64, 0));
          const pairs::Words words = stored.row(key, i);
          _mm512_store_si512(to + 2 * i, words.low);
          _mm512_store_si512(to + 2 * i + 64, words.high);
        }
      }
    }
  }

  // Numbers [first_number, last_number) as [tokens / kTokens][numbers / 16] tiles of pairs ·
  // numbers; beyond `tokens` the last value again.
  KVPLAN_DOT void values(const KvRows& kv, std::int64_t first, std::int64_t tokens,
                         std::int64_t first_number, std::int64_t last_number, std::byte* to) const {
    const std::int64_t tile_row = (last_number - first_number) / 16 * tiles::kBytes;
    const std::byte* from = kv.values + first * kv.value_stride;
    constexpr std::int64_t kStep = kTokens / 16;  // tokens of a pair
    for (std::int64_t t = 0; t < round_up(tokens, kTokens); t += kStep) {
      const std::byte* value = from + std::min(t, tokens - 1) * kv.value_stride;
      const std::byte* second = from + std::min(t + kStep - 1, tokens - 1) * kv.value_stride;
      if (first_number == 0) vectors::fetch_near(value, kStep * kv.value_stride);
      std::byte* row = to + t / kTokens * tile_row + t % kTokens / kStep * tiles::kRowBytes;
      for (std::int64_t i = first_number; i < last_number; i += 32, row += 2 * tiles::kBytes) {
        const pairs::Words words = pair(value, second, i);
        _mm512_store_si512(row, words.low);
        _mm512_store_si512(row + tiles::kBytes, words.high);
      }
    }
  }
  KVPLAN_DOT pairs::Words pair(const std::byte* value, const std::byte* second,
                               std::int64_t i) const {
    if constexpr (kSums)
      return {stored.sums(value, i), stored.sums(value, i + 16)};
    else if constexpr (kInts)
      return {beside(vectors::Int8::load(value, i), vectors::Int8::load(second, i)),
              beside(vectors::Int8::load(value, i + 16), vectors::Int8::load(second, i + 16))};
    else
      return stored.two_rows(value, second, i);
  }

  // Floats that are bf16 numbers, each pair in a word.
  KVPLAN_DOT static __m512i beside(__m512 first, __m512 second) {
    constexpr int kBWhereAElseC = 0xca;
    return _mm512_ternarylogic_epi32(
        _mm512_set1_epi32(static_cast<int>(0xffff0000)), _mm512_castps_si512(second),
        _mm512_srli_epi32(_mm512_castps_si512(first), 16), kBWhereAElseC);
  }
  // A bf16 number beside itself.
  KVPLAN_DOT static __m512i twice(__m256i bf16) {
    const __m512i words = _mm512_cvtepu16_epi32(bf16);
    return _mm512_or_si512(words, _mm512_slli_epi32(words, 16));
  }
};

}  // namespace kvplan
