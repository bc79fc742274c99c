// SPDX-License-Identifier: Apache-2.0
// Scores of int8 keys as they are stored: a query is rounded to 15 bits below its largest number,
// which are two bytes. A bf16 number has 8, so all that are not 64 times smaller are exact.
#pragma once
#include <algorithm>
#include <cmath>

#include "kernels/cpu/tile_scores.h"

namespace kvplan {

template <int kQueries>
class ByteScores : public TileScores<kQueries> {
 public:
  ByteScores(std::span<const QueryBlock> blocks, const KvRows& kv)
      : Base(blocks, kv, 2),
        queries_(kept_words<struct Queries>(count() * 2 * words())),
        steps_of_queries_(count() * kQueryLanes),
        keys_(words()) {}

  KVPLAN_AMX void pack_queries() {
    for (std::int64_t b = 0; b < count(); ++b) pack(b);
  }

  // Of all blocks.
  KVPLAN_AMX void score(std::int64_t first, std::int64_t tokens) {
    for (std::int64_t t = 0; t < tokens; t += 16) {
      const TileKeys rows = keys(first + t, tokens - t);
      for (std::int64_t b = 0; b < count(); ++b) score(rows, b, t);
    }
  }

  // [query][token]
  KVPLAN_AMX ScoreRow* of(std::int64_t block, std::int64_t tokens) {
    const float* step = steps_of_queries_.data() + block * kQueryLanes;
    for (std::int64_t t = 0; t < tokens; t += 16) {
      const std::uint32_t *upper = Base::sums(block, t), *lower = Base::sums(count() + block, t);
      // Together at most 2^14 · 2^7 · kMaxKeyWidth < 2^31.
      __m512i v[kQueries];
      for (int i = 0; i < kQueries; ++i)
        v[i] = _mm512_add_epi32(_mm512_slli_epi32(_mm512_load_si512(upper + 16 * i), 8),
                                _mm512_load_si512(lower + 16 * i));
      transpose<kQueries>(v);
      for (int r = 0; r < kQueries; ++r)
        _mm512_store_ps(this->scores_[r] + t,
                        _mm512_mul_ps(_mm512_cvtepi32_ps(v[r]), _mm512_set1_ps(step[r])));
    }
    return this->scores_;
  }

 private:
  using Base = TileScores<kQueries>;
  using Base::count, Base::width;
  static constexpr std::int64_t kNumbers = 64;  // of a key that a tile holds

  std::int64_t steps() const { return ceil_div(width(), kNumbers); }
  std::int64_t words() const { return steps() * kTileWords; }

  // Tiles of the upper bytes, then of the lower ones, which are signed too.
  KVPLAN_AMX void pack(std::int64_t block) {
    const QueryBlock& q = this->blocks_[block];
    std::uint32_t* to = queries_ + block * 2 * words();
    float* step = steps_of_queries_.data() + block * kQueryLanes;
    for (std::int64_t r = 0; r < q.rows; ++r) step[r] = step_of(q.bits + r * width(), width());
    for (std::int64_t i = 0; i < width(); i += kNumbers, to += kTileWords) {
      alignas(64) std::int8_t upper[16][kNumbers] = {}, lower[16][kNumbers] = {};
      for (std::int64_t r = 0; r < q.rows; ++r)
        for (std::int64_t j = 0; j < std::min(kNumbers, width() - i); j += 16) {
          const auto* row = reinterpret_cast<const std::byte*>(q.bits + r * width());
          const __m512i number = _mm512_cvtps_epi32(
              _mm512_mul_ps(vectors::Bf16::load(row, i + j), _mm512_set1_ps(1 / step[r])));
          const __m512i high =
              _mm512_srai_epi32(_mm512_add_epi32(number, _mm512_set1_epi32(128)), 8);
          const __m512i low = _mm512_sub_epi32(number, _mm512_slli_epi32(high, 8));
          _mm_store_si128(reinterpret_cast<__m128i*>(upper[r] + j), _mm512_cvtepi32_epi8(high));
          _mm_store_si128(reinterpret_cast<__m128i*>(lower[r] + j), _mm512_cvtepi32_epi8(low));
        }
      store_transposed(upper, to);
      store_transposed(lower, to + words());
    }
  }
  static float step_of(const std::uint16_t* bits, std::int64_t count) {
    float largest = 0x1p-100f;
    for (std::int64_t i = 0; i < count; ++i)
      largest = std::max(largest, std::abs(from_bf16(bits[i])));
    return std::ldexp(1.0f, std::ilogb(largest) - 13);
  }
  KVPLAN_AMX static void store_transposed(const std::int8_t (*rows)[kNumbers], std::uint32_t* to) {
    __m512i v[16];
    for (int r = 0; r < 16; ++r) v[r] = _mm512_load_si512(rows[r]);
    transpose<16>(v);
    for (int quad = 0; quad < 16; ++quad) _mm512_store_si512(to + 16 * quad, v[quad]);
  }

  // What a row of a tile has beyond a key meets zeros of the queries.
  KVPLAN_AMX TileKeys keys(std::int64_t first, std::int64_t tokens) {
    if (tokens >= 16) return this->in_place(first);
    auto* to = reinterpret_cast<std::byte*>(keys_.data());
    const KvRows& kv = this->kv_;
    for (std::int64_t t = 0; t < tokens; ++t)
      std::copy_n(kv.keys + (first + t) * kv.key_stride, width(),
                  to + t * steps() * tiles::kRowBytes);
    return {to, steps() * tiles::kRowBytes};
  }

  KVPLAN_AMX void score(const TileKeys& keys, std::int64_t block, std::int64_t t) {
    const std::uint32_t* queries = queries_ + block * 2 * words();
    tiles::clear<0>();
    tiles::clear<1>();
    for (std::int64_t step = 0; step < steps(); ++step, queries += kTileWords) {
      tiles::load<6>(keys.from + 64 * step, keys.stride);
      tiles::load<4>(queries);
      tiles::Int8::add<0, 6, 4>();
      tiles::load<4>(queries + words());
      tiles::Int8::add<1, 6, 4>();
    }
    Base::template keep<0>(block, t);
    Base::template keep<1>(count() + block, t);
  }

  std::uint32_t* queries_;  // [block][upper, lower][step] tiles
  Lines<float> steps_of_queries_;
  Lines<std::uint32_t> keys_;  // of 16 tokens
};

}  // namespace kvplan
