// SPDX-License-Identifier: Apache-2.0
// Weights become floats in registers, 16 at a time. One row after the other while x fits beside it
// in the first-level cache (one stream of memory is the fastest), else several share each load of
// x.
#include "kernels/cpu/gemv.h"
#include "kernels/cpu/vectors.h"

namespace kvplan {
namespace {

// A format: its loads, bytes of a block of 128 numbers, and its scales.
template <class Load, int kBytes>
struct Plain {
  static constexpr std::int64_t kBlockBytes = kBytes * kGemvBlock;
  KVPLAN_AVX512 static __m512 load(const std::byte* row, std::int64_t k, __m512) {
    return Load::load(row, k);
  }
  KVPLAN_AVX512 static __m512 group_scale(const std::byte*, std::int64_t, std::int64_t) {
    return _mm512_setzero_ps();  // not used
  }
  static float row_scale(const std::byte*, std::int64_t) { return 1; }
};
using Fp32 = Plain<vectors::Fp32, 4>;
using Bf16 = Plain<vectors::Bf16, 2>;
using Fp16 = Plain<vectors::Fp16, 2>;
using Fp8 = Plain<vectors::Fp8, 1>;
struct Int8 : Plain<vectors::Int8, 1> {
  static float row_scale(const std::byte* scales, std::int64_t row) {
    return reinterpret_cast<const float*>(scales)[row];
  }
};
struct Int4 {
  static constexpr std::int64_t kBlockBytes = kGemvBlock / 2;
  KVPLAN_AVX512 static __m512 load(const std::byte* row, std::int64_t k, __m512 scale) {
    const std::byte* half_group = row + k / 128 * 64 + k % 64;
    const __m512i bytes =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(half_group)));
    const __m512i codes = k % 128 < 64 ? bytes : _mm512_srli_epi32(bytes, 4);  // low 4 bits count
    const __m512 values = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
    return _mm512_mul_ps(_mm512_permutexvar_ps(codes, values), scale);
  }
  KVPLAN_AVX512 static __m512 group_scale(const std::byte* scales, std::int64_t row_group,
                                          std::int64_t k) {
    const auto bits = reinterpret_cast<const std::int16_t*>(scales)[row_group + k / kGemvBlock];
    return _mm512_cvtph_ps(_mm256_set1_epi16(bits));
  }
  static float row_scale(const std::byte*, std::int64_t) { return 1; }
};

// Whether x leaves most of the first-level cache free. Then one stream of memory is the fastest;
// else several rows of W share each load of x.
bool one_row_at_a_time(const Activations& x) {
  return x.padded * x.k * static_cast<std::int64_t>(sizeof(std::uint16_t)) <= 8 * kKiB;
}

KVPLAN_AVX512 inline __m512 x_at(const Activations& x, std::int64_t m, std::int64_t k) {
  return vectors::Bf16::load(reinterpret_cast<const std::byte*>(x.bf16.data() + m * x.stride), k);
}

// kM rows of x from m0 on, kRows rows of W from `first` on.
template <class Weights, int kM, int kRows>
KVPLAN_AVX512 void block(const GemvRows& task, std::int64_t first, std::int64_t m0) {
  constexpr int kChains = kM * kRows >= 8 ? 1 : 8 / (kM * kRows);  // hides the latency of sums
  const Activations& x = *task.x;
  const std::byte* rows[kRows];
  for (int r = 0; r < kRows; ++r)
    rows[r] = task.weights + (first + r) * (x.k / kGemvBlock) * Weights::kBlockBytes;
  const std::int64_t ahead =
      std::max(kRows * (x.k / kGemvBlock) * Weights::kBlockBytes, vectors::kLeastAhead);
  __m512 sums[kChains][kRows][kM];
  for (auto& chain : sums)
    for (auto& row : chain)
      for (__m512& sum : row) sum = _mm512_setzero_ps();
  for (std::int64_t k0 = 0; k0 < x.k; k0 += kGemvBlock) {
    __m512 scale[kRows];
    if (m0 == 0)
      for (const std::byte* row : rows)
        vectors::fetch(row + k0 / kGemvBlock * Weights::kBlockBytes + ahead, Weights::kBlockBytes);
    for (int r = 0; r < kRows; ++r)
      scale[r] = Weights::group_scale(task.scales, (first + r) * (x.k / kGemvBlock), k0);
#pragma GCC unroll 8
    for (int step = 0; step < kGemvBlock / 16; ++step) {
      const std::int64_t k = k0 + 16 * step;
      __m512 w[kRows];
      for (int r = 0; r < kRows; ++r) w[r] = Weights::load(rows[r], k, scale[r]);
      for (int m = 0; m < kM; ++m) {
        const __m512 in = x_at(x, m0 + m, k);
        for (int r = 0; r < kRows; ++r)
          sums[step % kChains][r][m] = _mm512_fmadd_ps(w[r], in, sums[step % kChains][r][m]);
      }
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int m = 0; m < kM; ++m) {
      for (int c = 1; c < kChains; ++c) sums[0][r][m] = _mm512_add_ps(sums[0][r][m], sums[c][r][m]);
      task.y[(first + r) * x.padded + m0 + m] =
          _mm512_reduce_add_ps(sums[0][r][m]) * Weights::row_scale(task.scales, first + r);
    }
}

// All rows of x pass while a few rows of W are in the first-level cache.
template <class Weights, int kM>
void all_rows_by(const GemvRows& task) {
  constexpr int kTogether = kM <= 2 ? 4 : 2;
  std::int64_t row = 0;
  if (!one_row_at_a_time(*task.x))
    for (; row + kTogether <= task.rows; row += kTogether)
      for (std::int64_t m0 = 0; m0 < task.x->padded; m0 += kM)
        block<Weights, kM, kTogether>(task, row, m0);
  for (; row < task.rows; ++row)
    for (std::int64_t m0 = 0; m0 < task.x->padded; m0 += kM) block<Weights, kM, 1>(task, row, m0);
}

template <class Weights>
void all_rows(const GemvRows& task) {
  switch (task.x->padded) {
    case 1:
      return all_rows_by<Weights, 1>(task);
    case 2:
      return all_rows_by<Weights, 2>(task);
    case 4:
      return all_rows_by<Weights, 4>(task);
    default:
      return all_rows_by<Weights, 8>(task);
  }
}

}  // namespace

GemvKernel gemv_avx512(const Format& format) {
  if (format.name == "fp32") return all_rows<Fp32>;
  if (format.name == "bf16") return all_rows<Bf16>;
  if (format.name == "fp16") return all_rows<Fp16>;
  if (format.name == "fp8") return all_rows<Fp8>;
  if (format.name == "int8-channel") return all_rows<Int8>;
  if (format.name == "int4-g128") return all_rows<Int4>;
  return nullptr;
}

}  // namespace kvplan
