// SPDX-License-Identifier: Apache-2.0
// Weights meet x in dot-product instructions: bf16 pairs as they are; int8 and int4 as unsigned
// bytes against the two bytes of a 16-bit x, exactly, with the offset taken back afterwards.
#include <immintrin.h>

#include "kernels/cpu/gemv.h"

namespace kvplan {
namespace {

KVPLAN_DOT inline __m512i load(const void* from) { return _mm512_loadu_si512(from); }
KVPLAN_DOT inline __m512bh load_bf16(const void* from) {
  return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from));
}
// Exact sum of 16 integers whose sum may not fit in 32 bits.
KVPLAN_DOT inline std::int64_t wide_sum(__m512i v) {
  const __m512i low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(v));
  const __m512i high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64(v, 1));
  return _mm512_reduce_add_epi64(_mm512_add_epi64(low, high));
}

template <int kM, int kRows>
struct Bf16Block {
  static constexpr int kTogether = kM <= 2 ? 4 : 2;  // as many as leave all sums in registers
  KVPLAN_DOT static void run(const GemvRows& task, std::int64_t first, std::int64_t m0) {
    constexpr int kChains = kM * kRows >= 4 ? 1 : 4 / (kM * kRows);
    const Activations& x = *task.x;
    const auto* weights = reinterpret_cast<const std::uint16_t*>(task.weights) + first * x.k;
    __m512 sums[kChains][kRows][kM];
    for (auto& chain : sums)
      for (auto& row : chain)
        for (__m512& sum : row) sum = _mm512_setzero_ps();
    for (std::int64_t k0 = 0; k0 < x.k; k0 += kGemvBlock)
#pragma GCC unroll 4
      for (int step = 0; step < kGemvBlock / 32; ++step) {
        const std::int64_t k = k0 + 32 * step;
        __m512bh w[kRows];
        for (int r = 0; r < kRows; ++r) w[r] = load_bf16(weights + r * x.k + k);
        for (int m = 0; m < kM; ++m) {
          const __m512bh in = load_bf16(x.bf16.data() + (m0 + m) * x.k + k);
          for (int r = 0; r < kRows; ++r)
            sums[step % kChains][r][m] = _mm512_dpbf16_ps(sums[step % kChains][r][m], w[r], in);
        }
      }
    for (int r = 0; r < kRows; ++r)
      for (int m = 0; m < kM; ++m) {
        for (int c = 1; c < kChains; ++c)
          sums[0][r][m] = _mm512_add_ps(sums[0][r][m], sums[c][r][m]);
        task.y[(first + r) * x.padded + m0 + m] = _mm512_reduce_add_ps(sums[0][r][m]);
      }
  }
};

template <int kM, int kRows>
struct Int8Block {
  static constexpr int kTogether = kM <= 2 ? 4 : kM <= 4 ? 2 : 1;
  KVPLAN_DOT static void run(const GemvRows& task, std::int64_t first, std::int64_t m0) {
    const Activations& x = *task.x;
    const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));  // + 128, as unsigned
    __m512i high[kRows][kM], low[kRows][kM];
    for (int r = 0; r < kRows; ++r)
      for (int m = 0; m < kM; ++m) high[r][m] = low[r][m] = _mm512_setzero_si512();
    for (std::int64_t k = 0; k < x.k; k += 64) {
      __m512i w[kRows];
      for (int r = 0; r < kRows; ++r)
        w[r] = _mm512_xor_si512(load(task.weights + (first + r) * x.k + k), offset);
      for (int m = 0; m < kM; ++m) {
        const __m512i x_high = load(x.high.data() + (m0 + m) * x.k + k);
        const __m512i x_low = load(x.low.data() + (m0 + m) * x.k + k);
        for (int r = 0; r < kRows; ++r) {
          high[r][m] = _mm512_dpbusd_epi32(high[r][m], w[r], x_high);
          low[r][m] = _mm512_dpbusd_epi32(low[r][m], w[r], x_low);
        }
      }
    }
    for (int r = 0; r < kRows; ++r)
      for (int m = 0; m < kM; ++m) {
        const std::int64_t sum =
            256 * wide_sum(high[r][m]) + wide_sum(low[r][m]) - 128 * x.sum[m0 + m];
        task.y[(first + r) * x.padded + m0 + m] =
            static_cast<float>(sum) * x.step[m0 + m] *
            reinterpret_cast<const float*>(task.scales)[first + r];
      }
  }
};

template <int kM, int kRows>
struct Int4Block {
  static constexpr int kTogether = 1;
  KVPLAN_DOT static void run(const GemvRows& task, std::int64_t first, std::int64_t m0) {
    row(task, first, m0);
  }
  // Scales of 16 groups become floats together; -8 of the offset is taken back per group.
  KVPLAN_DOT static void row(const GemvRows& task, std::int64_t r, std::int64_t m0) {
    const Activations& x = *task.x;
    const std::int64_t groups = x.k / kGemvBlock;
    const auto* scales = reinterpret_cast<const std::uint16_t*>(task.scales) + r * groups;
    __m512 sums[kM];
    for (__m512& sum : sums) sum = _mm512_setzero_ps();
    for (std::int64_t g0 = 0; g0 < groups; g0 += 16) {
      const auto count = static_cast<int>(std::min<std::int64_t>(16, groups - g0));
      const __m256i bits =
          _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), scales + g0);
      alignas(64) float scale[16];
      const __m512 scale_vector = _mm512_cvtph_ps(bits);
      _mm512_store_ps(scale, scale_vector);
      for (int m = 0; m < kM; ++m)
        sums[m] = _mm512_fmadd_ps(
            scale_vector, _mm512_loadu_ps(x.negative_group_sum.data() + (m0 + m) * x.groups + g0),
            sums[m]);
      for (int g = 0; g < count; ++g)
        group(x, task.weights + (r * groups + g0 + g) * 64, (g0 + g) * kGemvBlock, m0, scale[g],
              sums);
    }
    for (int m = 0; m < kM; ++m)
      task.y[r * x.padded + m0 + m] = _mm512_reduce_add_ps(sums[m]) * x.step[m0 + m];
  }
  [[gnu::always_inline]] KVPLAN_DOT static void group(const Activations& x,
                                                      const std::byte* weights, std::int64_t k,
                                                      std::int64_t m0, float scale,
                                                      __m512 (&sums)[kM]) {
    const __m512i nibble = _mm512_set1_epi8(15);
    const __m512i both = load(weights);
    const __m512i w0 = _mm512_and_si512(both, nibble);
    const __m512i w1 = _mm512_and_si512(_mm512_srli_epi16(both, 4), nibble);
    for (int m = 0; m < kM; ++m) {
      const std::int8_t* high = x.high.data() + (m0 + m) * x.k + k;
      const std::int8_t* low = x.low.data() + (m0 + m) * x.k + k;
      __m512i upper = _mm512_dpbusd_epi32(_mm512_setzero_si512(), w0, load(high));
      __m512i lower = _mm512_dpbusd_epi32(_mm512_setzero_si512(), w0, load(low));
      upper = _mm512_dpbusd_epi32(upper, w1, load(high + 64));
      lower = _mm512_dpbusd_epi32(lower, w1, load(low + 64));
      const __m512i sum = _mm512_add_epi32(_mm512_slli_epi32(upper, 8), lower);
      sums[m] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(scale), sums[m]);
    }
  }
};

template <template <int, int> class Block, int kM>
void rows_for(const GemvRows& task, std::int64_t m0) {
  constexpr int kTogether = Block<kM, 1>::kTogether;
  std::int64_t row = 0;
  if (!one_row_at_a_time(*task.x))
    for (; row + kTogether <= task.rows; row += kTogether) Block<kM, kTogether>::run(task, row, m0);
  for (; row < task.rows; ++row) Block<kM, 1>::run(task, row, m0);
}

template <template <int, int> class Block>
void all_rows(const GemvRows& task) {
  switch (task.x->padded) {
    case 1:
      return rows_for<Block, 1>(task, 0);
    case 2:
      return rows_for<Block, 2>(task, 0);
    case 4:
      return rows_for<Block, 4>(task, 0);
    default:
      for (std::int64_t m0 = 0; m0 < task.x->padded; m0 += 8) rows_for<Block, 8>(task, m0);
  }
}

}  // namespace

GemvKernel gemv_dot(const Format& format) {
  if (format.name == "bf16") return all_rows<Bf16Block>;
  if (format.name == "int8-channel") return all_rows<Int8Block>;
  if (format.name == "int4-g128") return all_rows<Int4Block>;
  return nullptr;
}

}  // namespace kvplan
