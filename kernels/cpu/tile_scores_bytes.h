// SPDX-License-Identifier: Apache-2.0
// Scores of int8 keys as they are stored: a query is rounded to 23 bits, sign included, which are
// three signed bytes. A bf16 number has 8, so all that are not 16,384 times smaller than the
// largest are exact. (With two bytes a weight of a peaked softmax erred as much as by its rounding
// to bf16.)
#pragma once
#include <algorithm>
#include <cmath>

#include "kernels/cpu/tile_scores.h"

namespace kvplan {

template <int kQueries>
class ByteScores : public TileScores<kQueries> {
 public:
  ByteScores(std::span<const QueryBlock> blocks, const KvRows& kv)
      : Base(blocks, kv, kBytes),
        queries_(kept_words<struct Queries>(count() * kBytes * words())),
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
      // Each sum is at most 2^7 · 2^7 · kMaxKeyWidth < 2^24: a float holds it.
      __m512i v[kQueries];
      for (int i = 0; i < kQueries; ++i) {
        __m512 sum = _mm512_setzero_ps();
        for (std::int64_t byte = 0; byte < kBytes; ++byte)
          sum = _mm512_fmadd_ps(sum, _mm512_set1_ps(256),
                                _mm512_cvtepi32_ps(_mm512_load_si512(
                                    Base::sums(byte * count() + block, t) + 16 * i)));
        v[i] = _mm512_castps_si512(sum);
      }
      transpose<kQueries>(v);
      for (int r = 0; r < kQueries; ++r)
        _mm512_store_ps(this->scores_[r] + t,
                        _mm512_mul_ps(_mm512_castsi512_ps(v[r]), _mm512_set1_ps(step[r])));
    }
    return this->scores_;
  }

 private:
  using Base = TileScores<kQueries>;
  using Base::count, Base::width;
  static constexpr std::int64_t kNumbers = 64;  // of a key that a tile holds
  static constexpr std::int64_t kBytes = 3;     // of a query's number, the highest first

  std::int64_t steps() const { return ceil_div(width(), kNumbers); }
  std::int64_t words() const { return steps() * kTileWords; }

  // Tiles of each byte of the numbers, all signed.
  KVPLAN_AMX void pack(std::int64_t block) {
    const QueryBlock& q = this->blocks_[block];
    std::uint32_t* to = queries_ + block * kBytes * words();
    float* step = steps_of_queries_.data() + block * kQueryLanes;
    for (std::int64_t r = 0; r < q.rows; ++r) step[r] = step_of(q.bits + r * width(), width());
    for (std::int64_t i = 0; i < width(); i += kNumbers, to += kTileWords) {
      alignas(64) std::int8_t bytes[kBytes][16][kNumbers] = {};
      for (std::int64_t r = 0; r < q.rows; ++r)
        for (std::int64_t j = 0; j < std::min(kNumbers, width() - i); j += 16) {
          const auto* row = reinterpret_cast<const std::byte*>(q.bits + r * width());
          __m512i left = _mm512_cvtps_epi32(
              _mm512_mul_ps(vectors::Bf16::load(row, i + j), _mm512_set1_ps(1 / step[r])));
          for (std::int64_t byte = kBytes; byte-- > 0;) {
            // The lowest 8 bits as a signed number; what is left is divisible by 256.
            const __m512i low = _mm512_srai_epi32(_mm512_slli_epi32(left, 24), 24);
            _mm_store_si128(reinterpret_cast<__m128i*>(bytes[byte][r] + j),
                            _mm512_cvtepi32_epi8(low));
            left = _mm512_srai_epi32(_mm512_sub_epi32(left, low), 8);
          }
        }
      for (std::int64_t byte = 0; byte < kBytes; ++byte)
        store_transposed(bytes[byte], to + byte * words());
    }
  }
  static float step_of(const std::uint16_t* bits, std::int64_t count) {
    float largest = 0x1p-100f;
    for (std::int64_t i = 0; i < count; ++i)
      largest = std::max(largest, std::abs(from_bf16(bits[i])));
    return std::ldexp(1.0f, std::ilogb(largest) - 21);
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
    const std::uint32_t* queries = queries_ + block * kBytes * words();
    tiles::clear<0>();
    tiles::clear<1>();
    for (std::int64_t step = 0; step < steps(); ++step) {
      tiles::load<6>(keys.from + 64 * step, keys.stride);
      tiles::load<4>(queries + step * kTileWords);
      tiles::Int8::add<0, 6, 4>();
      tiles::load<4>(queries + words() + step * kTileWords);
      tiles::Int8::add<1, 6, 4>();
    }
    Base::template keep<0>(block, t);
    Base::template keep<1>(count() + block, t);
    tiles::clear<0>();
    for (std::int64_t step = 0; step < steps(); ++step) {
      tiles::load<6>(keys.from + 64 * step, keys.stride);
      tiles::load<4>(queries + 2 * words() + step * kTileWords);
      tiles::Int8::add<0, 6, 4>();
    }
    Base::template keep<0>(2 * count() + block, t);
  }

  std::uint32_t* queries_;  // [block][byte][step] tiles
  Lines<float> steps_of_queries_;
  Lines<std::uint32_t> keys_;  // of 16 tokens
};

}  // namespace kvplan
