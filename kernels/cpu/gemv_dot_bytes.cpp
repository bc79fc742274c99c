// SPDX-License-Identifier: Apache-2.0
// int8 and int4 as unsigned bytes meet the two bytes of a 16-bit x in products of bytes, exactly;
// the offset that made them unsigned is taken back afterwards.
#include "kernels/cpu/gemv_tiles.h"

namespace kvplan {
namespace {

KVPLAN_DOT inline __m512i load(const void* from) { return _mm512_loadu_si512(from); }

// Exact sum of 16 integers whose sum may not fit in 32 bits.
KVPLAN_DOT inline std::int64_t wide_sum(__m512i v) {
  const __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(v));
  const __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(v, 1));
  return _mm512_reduce_add_epi64(_mm512_add_epi64(low, high));
}

template <int kM, int kRows>
struct Int8Block {
  static constexpr int kMost = kByteRows, kTogether = kM == 1 ? 4 : 2;
  static std::int64_t row_bytes(std::int64_t k) { return k; }
  struct Sums {
    __m512i high[kRows][kM], low[kRows][kM];
  };

  KVPLAN_DOT static void add(const GemvRows& task, const GemvTile& tile, Sums& kept) {
    const Activations& x = *task.x;
    const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));  // + 128, as unsigned
    const std::byte* rows = task.weights + tile.row * x.k;
    __m512i high[kRows][kM], low[kRows][kM];
    for (int r = 0; r < kRows; ++r)
      for (int m = 0; m < kM; ++m) {
        high[r][m] = tile.first > 0 ? kept.high[r][m] : _mm512_setzero_si512();
        low[r][m] = tile.first > 0 ? kept.low[r][m] : _mm512_setzero_si512();
      }
    std::int64_t place = tile.m0 * x.k + tile.first * kM;
    for (std::int64_t k = tile.first; k < tile.last; k += 64, place += 64 * kM) {
      __m512i w[kRows];
      for (int r = 0; r < kRows; ++r) {
        const std::byte* from = rows + r * x.k + k;
        if (tile.ahead) vectors::fetch(from + tile.ahead, 64);
        w[r] = _mm512_xor_si512(load(from), offset);
      }
      for (int m = 0; m < kM; ++m) {
        const __m512i x_high = load(x.high.data() + place + 64 * m);
        const __m512i x_low = load(x.low.data() + place + 64 * m);
        for (int r = 0; r < kRows; ++r) {
          high[r][m] = _mm512_dpbusd_epi32(high[r][m], w[r], x_high);
          low[r][m] = _mm512_dpbusd_epi32(low[r][m], w[r], x_low);
        }
      }
    }
    for (int r = 0; r < kRows; ++r)
      for (int m = 0; m < kM; ++m)
        if (tile.last < x.k) {
          kept.high[r][m] = high[r][m];
          kept.low[r][m] = low[r][m];
        } else {
          const std::int64_t sum =
              256 * wide_sum(high[r][m]) + wide_sum(low[r][m]) - 128 * x.sum[tile.m0 + m];
          task.y[(tile.row + r) * x.padded + tile.m0 + m] =
              static_cast<float>(sum) * x.step[tile.m0 + m] *
              reinterpret_cast<const float*>(task.scales)[tile.row + r];
        }
  }
};

// 128 numbers of one row in 64 bytes, as unsigned bytes.
struct Nibbles {
  __m512i low, high;  // numbers 0..63 and 64..127 of a group
};
KVPLAN_DOT inline Nibbles load_nibbles(const std::byte* group) {
  const __m512i mask = _mm512_set1_epi8(15), both = load(group);
  return {_mm512_and_si512(both, mask), _mm512_and_si512(_mm512_srli_epi16(both, 4), mask)};
}

template <int kM, int kRows>
struct Int4Block {
  static constexpr int kMost = kByteRows, kTogether = 2;
  static std::int64_t row_bytes(std::int64_t k) { return k / 2; }
  using Sums = __m512[kRows][kM];

  // Scales of up to 16 groups become floats together; the offset of 8 is taken back per group.
  KVPLAN_DOT static void add(const GemvRows& task, const GemvTile& tile, Sums& kept) {
    const Activations& x = *task.x;
    const std::int64_t groups = x.k / kGemvBlock, last = tile.last / kGemvBlock;
    Sums sums;
    for (int r = 0; r < kRows; ++r)
      for (int m = 0; m < kM; ++m) sums[r][m] = tile.first > 0 ? kept[r][m] : _mm512_setzero_ps();
    for (std::int64_t g0 = tile.first / kGemvBlock; g0 < last; g0 += 16) {
      const auto count = static_cast<int>(std::min<std::int64_t>(16, last - g0));
      const auto mask = static_cast<__mmask16>((1u << count) - 1);
      alignas(64) float scales[kRows][16];
      for (int r = 0; r < kRows; ++r) {
        const auto* bits =
            reinterpret_cast<const std::uint16_t*>(task.scales) + (tile.row + r) * groups + g0;
        const __m512 scale = _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, bits));
        _mm512_store_ps(scales[r], scale);
        for (int m = 0; m < kM; ++m) {
          const float* offsets = x.negative_group_sum.data() + (tile.m0 + m) * x.groups + g0;
          sums[r][m] = _mm512_fmadd_ps(scale, _mm512_maskz_loadu_ps(mask, offsets), sums[r][m]);
        }
      }
      for (int g = 0; g < count; ++g) add_group(task, tile, g0 + g, scales, g, sums);
    }
    for (int r = 0; r < kRows; ++r)
      for (int m = 0; m < kM; ++m)
        if (tile.last < x.k)
          kept[r][m] = sums[r][m];
        else
          task.y[(tile.row + r) * x.padded + tile.m0 + m] =
              _mm512_reduce_add_ps(sums[r][m]) * x.step[tile.m0 + m];
  }

  [[gnu::always_inline]] KVPLAN_DOT static void add_group(const GemvRows& task,
                                                          const GemvTile& tile, std::int64_t group,
                                                          const float (&scales)[kRows][16], int g,
                                                          Sums& sums) {
    const Activations& x = *task.x;
    Nibbles w[kRows];
    for (int r = 0; r < kRows; ++r) {
      const std::byte* from = task.weights + (tile.row + r) * row_bytes(x.k) + group * 64;
      if (tile.ahead) vectors::fetch(from + tile.ahead, 64);
      w[r] = load_nibbles(from);
    }
    const std::int64_t place = tile.m0 * x.k + group * kGemvBlock * kM;
    for (int m = 0; m < kM; ++m) {
      const std::int8_t* high = x.high.data() + place + 64 * m;
      const std::int8_t* low = x.low.data() + place + 64 * m;
      const __m512i high0 = load(high), high1 = load(high + 64 * kM);
      const __m512i low0 = load(low), low1 = load(low + 64 * kM);
      for (int r = 0; r < kRows; ++r) {
        const __m512i zero = _mm512_setzero_si512();
        const __m512i upper =
            _mm512_dpbusd_epi32(_mm512_dpbusd_epi32(zero, w[r].low, high0), w[r].high, high1);
        const __m512i sum = _mm512_dpbusd_epi32(
            _mm512_dpbusd_epi32(_mm512_slli_epi32(upper, 8), w[r].low, low0), w[r].high, low1);
        sums[r][m] =
            _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(scales[r][g]), sums[r][m]);
      }
    }
  }
};

}  // namespace

GemvKernel gemv_dot_bytes(const Format& format) {
  if (format.name == "int8-channel") return all_tiles<Int8Block>;
  if (format.name == "int4-g128") return all_tiles<Int4Block>;
  return nullptr;
}

}  // namespace kvplan
