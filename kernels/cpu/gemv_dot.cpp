// SPDX-License-Identifier: Apache-2.0
// Weights meet x in dot-product instructions: pairs of bf16 (fp8 by table); int8 and int4 as
// unsigned bytes against the two bytes of a 16-bit x, exactly, with the offset taken back
// afterwards.
#include <immintrin.h>

#include <array>

#include "kernels/cpu/gemv.h"
#include "kernels/cpu/vectors.h"
#include "kernels/numbers.h"

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

// Numbers [i, i + 32) of a row as bf16.
struct Bf16 {
  static constexpr std::int64_t kBytes = 2;
  KVPLAN_DOT __m512bh load(const std::byte* row, std::int64_t i) const {
    return load_bf16(row + 2 * i);
  }
};
// Every magnitude of E4M3 is a bf16 number: a table of 128 in four registers, and the sign.
struct Fp8 {
  static constexpr std::int64_t kBytes = 1;
  alignas(64) static constexpr auto kTable = [] {
    std::array<std::uint16_t, 128> numbers{};
    for (unsigned code = 0; code < numbers.size(); ++code)
      numbers[code] = to_bf16(from_fp8(static_cast<std::uint8_t>(code)));
    return numbers;
  }();
  __m512i table[4];

  KVPLAN_DOT Fp8() {
    for (std::size_t t = 0; t < 4; ++t) table[t] = kvplan::load(kTable.data() + 32 * t);
  }
  KVPLAN_DOT __m512bh load(const std::byte* row, std::int64_t i) const {
    const __m512i codes =
        _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + i)));
    const __m512i small = _mm512_permutex2var_epi16(table[0], codes, table[1]);
    const __m512i large = _mm512_permutex2var_epi16(table[2], codes, table[3]);
    const __mmask32 is_large = _mm512_test_epi16_mask(codes, _mm512_set1_epi16(64));
    const __m512i magnitude = _mm512_mask_mov_epi16(small, is_large, large);
    const __m512i sign = _mm512_set1_epi16(static_cast<short>(0x8000));
    constexpr int kAOrBAndC = 0xf8;
    return reinterpret_cast<__m512bh>(
        _mm512_ternarylogic_epi32(magnitude, _mm512_slli_epi16(codes, 8), sign, kAOrBAndC));
  }
};

template <class Weights, int kM, int kRows>
struct PairBlock {
  // Rows of x and of W at a time: as many as leave all sums in registers.
  static constexpr int kMost = 8, kTogether = kM <= 2 ? 4 : 2;
  KVPLAN_DOT static void run(const GemvRows& task, std::int64_t first, std::int64_t m0) {
    constexpr int kChains = kM * kRows >= 4 ? 1 : 4 / (kM * kRows);
    const Activations& x = *task.x;
    const Weights weights;
    const std::byte* rows = task.weights + first * x.k * Weights::kBytes;
    const std::int64_t ahead = fetched_ahead(kRows * x.k * Weights::kBytes);
    __m512 sums[kChains][kRows][kM];
    for (auto& chain : sums)
      for (auto& row : chain)
        for (__m512& sum : row) sum = _mm512_setzero_ps();
    for (std::int64_t k0 = 0; k0 < x.k; k0 += kGemvBlock)
#pragma GCC unroll 4
      for (int step = 0; step < kGemvBlock / 32; ++step) {
        const std::int64_t k = k0 + 32 * step;
        __m512bh w[kRows];
        for (int r = 0; r < kRows; ++r) {
          const std::byte* row = rows + r * x.k * Weights::kBytes;
          if (m0 == 0 && k * Weights::kBytes % 64 == 0)
            vectors::fetch(row + k * Weights::kBytes + ahead, 64);
          w[r] = weights.load(row, k);
        }
        for (int m = 0; m < kM; ++m) {
          const __m512bh in = load_bf16(x.bf16.data() + (m0 + m) * x.stride + k);
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
struct Bf16Block : PairBlock<Bf16, kM, kRows> {};
template <int kM, int kRows>
struct Fp8Block : PairBlock<Fp8, kM, kRows> {};

template <int kM, int kRows>
struct Int8Block {
  static constexpr int kMost = 4, kTogether = kM == 1 ? 4 : 2;
  KVPLAN_DOT static void run(const GemvRows& task, std::int64_t first, std::int64_t m0) {
    const Activations& x = *task.x;
    const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));  // + 128, as unsigned
    const std::int64_t ahead = fetched_ahead(kRows * x.k);
    __m512i high[kRows][kM], low[kRows][kM];
    for (int r = 0; r < kRows; ++r)
      for (int m = 0; m < kM; ++m) high[r][m] = low[r][m] = _mm512_setzero_si512();
    for (std::int64_t k = 0; k < x.k; k += 64) {
      __m512i w[kRows];
      for (int r = 0; r < kRows; ++r) {
        const std::byte* from = task.weights + (first + r) * x.k + k;
        if (m0 == 0) vectors::fetch(from + ahead, 64);
        w[r] = _mm512_xor_si512(load(from), offset);
      }
      for (int m = 0; m < kM; ++m) {
        const __m512i x_high = load(x.high.data() + (m0 + m) * x.stride + k);
        const __m512i x_low = load(x.low.data() + (m0 + m) * x.stride + k);
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
  static constexpr int kMost = 4, kTogether = 2;
  using Sums = __m512[kRows][kM];

  // Scales of 16 groups become floats together; the offset of 8 is taken back per group.
  KVPLAN_DOT static void run(const GemvRows& task, std::int64_t first, std::int64_t m0) {
    const Activations& x = *task.x;
    const std::int64_t groups = x.k / kGemvBlock;
    Sums sums;
    for (auto& row : sums)
      for (__m512& sum : row) sum = _mm512_setzero_ps();
    for (std::int64_t g0 = 0; g0 < groups; g0 += 16) {
      const auto count = static_cast<int>(std::min<std::int64_t>(16, groups - g0));
      alignas(64) float scales[kRows][16];
      for (int r = 0; r < kRows; ++r) {
        const auto* bits =
            reinterpret_cast<const std::uint16_t*>(task.scales) + (first + r) * groups + g0;
        const __m512 scale = _mm512_cvtph_ps(
            _mm256_maskz_loadu_epi16(static_cast<__mmask16>((1u << count) - 1), bits));
        _mm512_store_ps(scales[r], scale);
        for (int m = 0; m < kM; ++m) {
          const float* offsets = x.negative_group_sum.data() + (m0 + m) * x.groups + g0;
          sums[r][m] = _mm512_fmadd_ps(scale, _mm512_loadu_ps(offsets), sums[r][m]);
        }
      }
      for (int g = 0; g < count; ++g) {
        const std::byte* weights = task.weights + (first * groups + g0 + g) * 64;
        add_group(x, weights, (g0 + g) * kGemvBlock, m0, scales, g, sums);
      }
    }
    for (int r = 0; r < kRows; ++r)
      for (int m = 0; m < kM; ++m)
        task.y[(first + r) * x.padded + m0 + m] = _mm512_reduce_add_ps(sums[r][m]) * x.step[m0 + m];
  }

  [[gnu::always_inline]] KVPLAN_DOT static void add_group(const Activations& x,
                                                          const std::byte* weights, std::int64_t k,
                                                          std::int64_t m0,
                                                          const float (&scales)[kRows][16], int g,
                                                          Sums& sums) {
    Nibbles w[kRows];
    for (int r = 0; r < kRows; ++r) {
      const std::byte* group = weights + r * (x.k / 2);
      if (m0 == 0) vectors::fetch(group + fetched_ahead(kRows * x.k / 2), 64);
      w[r] = load_nibbles(group);
    }
    for (int m = 0; m < kM; ++m) {
      const std::int8_t* high = x.high.data() + (m0 + m) * x.stride + k;
      const std::int8_t* low = x.low.data() + (m0 + m) * x.stride + k;
      const __m512i high0 = load(high), high1 = load(high + 64);
      const __m512i low0 = load(low), low1 = load(low + 64);
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

// All rows of x pass while a few rows of W are in the first-level cache.
template <template <int, int> class Block, int kM>
void all_rows_by(const GemvRows& task) {
  constexpr int kTogether = Block<kM, 1>::kTogether;
  std::int64_t row = 0;
  if (!one_row_at_a_time(*task.x))
    for (; row + kTogether <= task.rows; row += kTogether)
      for (std::int64_t m0 = 0; m0 < task.x->padded; m0 += kM)
        Block<kM, kTogether>::run(task, row, m0);
  for (; row < task.rows; ++row)
    for (std::int64_t m0 = 0; m0 < task.x->padded; m0 += kM) Block<kM, 1>::run(task, row, m0);
}

template <template <int, int> class Block>
void all_rows(const GemvRows& task) {
  switch (task.x->padded) {
    case 1:
      return all_rows_by<Block, 1>(task);
    case 2:
      return all_rows_by<Block, 2>(task);
    case 4:
      return all_rows_by<Block, 4>(task);
    default:
      return all_rows_by<Block, Block<1, 1>::kMost>(task);
  }
}

}  // namespace

GemvKernel gemv_dot(const Format& format) {
  if (format.name == "bf16") return all_rows<Bf16Block>;
  if (format.name == "fp8") return all_rows<Fp8Block>;
  if (format.name == "int8-channel") return all_rows<Int8Block>;
  if (format.name == "int4-g128") return all_rows<Int4Block>;
  return nullptr;
}

}  // namespace kvplan
