// SPDX-License-Identifier: Apache-2.0
// int8 and int4 weights as 16-bit words meet a 16-bit x in exact products of pairs of words.
#include "kernels/cpu/gemv_tiles.h"

namespace kvplan {
namespace {

KVPLAN_DOT inline __m512i load(const void* from) { return _mm512_loadu_si512(from); }

template <int kM, int kRows>
struct Int8Block {
  // With one row of x one stream of memory is faster than four.
  static constexpr int kTogether = kM == kTileRows ? 2 : kM == 1 ? 1 : 4;
  static constexpr std::int64_t kInputBytes = sizeof(std::int16_t);
  static constexpr bool kNear = false;
  static std::int64_t row_bytes(std::int64_t k) { return k; }
  using Sums = GemvSums<kM, kRows, 1>;

  // A piece has at most 8,192 columns: its sums fit 32 bits, and become floats at its end.
  KVPLAN_DOT static void add(const GemvRows& task, const GemvTile& tile,
                             typename Sums::Kept& kept) {
    constexpr int kChains = kM * kRows >= 8 ? 1 : 2;
    const Activations& x = *task.x;
    const std::byte* rows = task.weights + tile.row * x.k;
    const std::int16_t* in = x.words.data() + tile.m0 * x.k + tile.first * kM;
    __m512i exact[kChains][kRows][kM];
    for (int c = 0; c < kChains; ++c)
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
        for (int m = 0; m < kM; ++m) exact[c][r][m] = _mm512_setzero_si512();
    for (std::int64_t k = tile.first; k < tile.last; k += 64)
#pragma GCC unroll 2
      for (int half = 0; half < 2; ++half, in += 32 * kM) {
        __m512i w[kRows];
        for (int r = 0; r < kRows; ++r) {
          const std::byte* from = rows + r * x.k + k + 32 * half;
          if (tile.ahead && half == 0) vectors::fetch(from + tile.ahead, 64);
          w[r] = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
        }
        for (int m = 0; m < kM; ++m) {
          const __m512i x_of_row = vectors::in_register(load(in + 32 * m));
          for (int r = 0; r < kRows; ++r) {
            __m512i& sum = exact[half % kChains][r][m];
            sum = _mm512_dpwssd_epi32(sum, w[r], x_of_row);
          }
        }
      }
    Sums sums;
    for (int c = 0; c < kChains; ++c)
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
        for (int m = 0; m < kM; ++m) {
          const __m512 sum = _mm512_cvtepi32_ps(exact[c][r][m]);
          sums.of[0][r][m] = c == 0 ? sum : _mm512_add_ps(sums.of[0][r][m], sum);
        }
    sums.end(task, tile, kept, [&](std::int64_t row, std::int64_t m) {
      return x.step[m] * reinterpret_cast<const float*>(task.scales)[row];
    });
  }
};

// 128 numbers of one row, each plus 8, as words: those at the places 2j, 64 + 2j, 2j + 1, 65 + 2j.
struct Nibbles {
  __m512i words[4];
};
KVPLAN_DOT inline Nibbles load_nibbles(const std::byte* group) {
  const __m512i mask = _mm512_set1_epi16(15), all = load(group);
  return {_mm512_and_si512(all, mask), _mm512_and_si512(_mm512_srli_epi16(all, 4), mask),
          _mm512_and_si512(_mm512_srli_epi16(all, 8), mask), _mm512_srli_epi16(all, 12)};
}

template <int kM, int kRows>
struct Int4Block {
  static constexpr int kTogether = kM == 1 ? 4 : 2;
  static constexpr std::int64_t kInputBytes = sizeof(std::int16_t);
  static constexpr bool kNear = false;
  static std::int64_t row_bytes(std::int64_t k) { return k / 2; }
  using Sums = GemvSums<kM, kRows, 1>;

  // Scales of up to 16 groups become floats together.
  KVPLAN_DOT static void add(const GemvRows& task, const GemvTile& tile,
                             typename Sums::Kept& kept) {
    const Activations& x = *task.x;
    const std::int64_t groups = x.k / kGemvBlock, last = tile.last / kGemvBlock;
    Sums sums;
    sums.clear();
    for (std::int64_t g0 = tile.first / kGemvBlock; g0 < last; g0 += 16) {
      const auto count = static_cast<int>(std::min<std::int64_t>(16, last - g0));
      const auto mask = static_cast<__mmask16>((1u << count) - 1);
      alignas(64) float scales[kRows][16];
      for (int r = 0; r < kRows; ++r) {
        const auto* bits =
            reinterpret_cast<const std::uint16_t*>(task.scales) + (tile.row + r) * groups + g0;
        _mm512_store_ps(scales[r], _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(mask, bits)));
      }
      for (int g = 0; g < count; ++g) add_group(task, tile, g0 + g, scales, g, sums.of[0]);
    }
    sums.end(task, tile, kept, [&](std::int64_t, std::int64_t m) { return x.step[m]; });
  }

 private:
  // Products begin at -8 Σ x, which takes back what made the numbers unsigned.
  [[gnu::always_inline]] KVPLAN_DOT static void add_group(const GemvRows& task,
                                                          const GemvTile& tile, std::int64_t group,
                                                          const float (&scales)[kRows][16], int g,
                                                          __m512 (&sums)[kRows][kM]) {
    const Activations& x = *task.x;
    Nibbles w[kRows];
    for (int r = 0; r < kRows; ++r) {
      const std::byte* from = task.weights + (tile.row + r) * row_bytes(x.k) + group * 64;
      if (tile.ahead) vectors::fetch(from + tile.ahead, 64);
      w[r] = load_nibbles(from);
    }
    const std::int64_t place = tile.m0 * x.k + group * kGemvBlock * kM;
#pragma GCC unroll 8
    for (int m = 0; m < kM; ++m) {
      const std::int16_t* in = x.nibble_words.data() + place + kGemvBlock * m;
      __m512i exact[kRows];
      for (__m512i& sum : exact) sum = load(x.nibble_offsets.data() + place / 8 + 16 * m);
      for (int part = 0; part < 4; ++part) {
        const __m512i x_of_row = vectors::in_register(load(in + 32 * part));
        for (int r = 0; r < kRows; ++r)
          exact[r] = _mm512_dpwssd_epi32(exact[r], w[r].words[part], x_of_row);
      }
      for (int r = 0; r < kRows; ++r)
        sums[r][m] =
            _mm512_fmadd_ps(_mm512_cvtepi32_ps(exact[r]), _mm512_set1_ps(scales[r][g]), sums[r][m]);
    }
  }
};

}  // namespace

GemvKernel gemv_dot_words(const Format& format) {
  if (format.name == "int8-channel") return all_tiles<Int8Block>;
  if (format.name == "int4-g128") return all_tiles<Int4Block>;
  return nullptr;
}

}  // namespace kvplan
