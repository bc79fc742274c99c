// SPDX-License-Identifier: Apache-2.0
// Weights become floats in registers, 16 at a time, and meet x in multiply-adds of floats.
#include "kernels/cpu/gemv_tiles.h"

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

template <class Weights, int kM, int kRows>
struct FloatBlock {
  // With one row of x one stream of memory is faster than four.
  static constexpr int kTogether = kM == kTileRows ? 3 : kM == 1 ? 1 : 4;
  static constexpr std::int64_t kInputBytes = sizeof(float);
  static constexpr bool kNear = true;
  static std::int64_t row_bytes(std::int64_t k) { return k / kGemvBlock * Weights::kBlockBytes; }
  using Sums = GemvSums<kM, kRows>;

  KVPLAN_AVX512 static void add(const GemvRows& task, const GemvTile& tile,
                                typename Sums::Kept& kept) {
    const Activations& x = *task.x;
    const std::byte* rows = task.weights + tile.row * row_bytes(x.k);
    const float* in = x.floats.data() + tile.m0 * x.k + tile.first * kM;
    Sums sums;
    sums.clear();
    for (std::int64_t k0 = tile.first; k0 < tile.last; k0 += kGemvBlock) {
      __m512 scale[kRows];
      for (int r = 0; r < kRows; ++r) {
        if (tile.ahead)
          vectors::fetch(rows + r * row_bytes(x.k) + row_bytes(k0) + tile.ahead,
                         Weights::kBlockBytes);
        scale[r] = Weights::group_scale(task.scales, (tile.row + r) * (x.k / kGemvBlock), k0);
      }
#pragma GCC unroll 8
      for (int step = 0; step < kGemvBlock / 16; ++step, in += 16 * kM) {
        __m512 w[kRows];
        for (int r = 0; r < kRows; ++r)
          w[r] = Weights::load(rows + r * row_bytes(x.k), k0 + 16 * step, scale[r]);
        for (int m = 0; m < kM; ++m) {
          const __m512 x_of_row = vectors::in_register(_mm512_load_ps(in + 16 * m));
          for (int r = 0; r < kRows; ++r) {
            __m512& sum = sums.of[step % Sums::kChains][r][m];
            sum = _mm512_fmadd_ps(w[r], x_of_row, sum);
          }
        }
      }
    }
    sums.end(task, tile, kept,
             [&](std::int64_t row, std::int64_t) { return Weights::row_scale(task.scales, row); });
  }
};

template <class Weights>
struct Floats {
  template <int kM, int kRows>
  using Block = FloatBlock<Weights, kM, kRows>;
};
template <class Weights>
constexpr GemvKernel kKernel = all_tiles<Floats<Weights>::template Block>;

}  // namespace

GemvKernel gemv_avx512(const Format& format) {
  if (format.name == "fp32") return kKernel<Fp32>;
  if (format.name == "bf16") return kKernel<Bf16>;
  if (format.name == "fp16") return kKernel<Fp16>;
  if (format.name == "fp8") return kKernel<Fp8>;
  if (format.name == "int8-channel") return kKernel<Int8>;
  if (format.name == "int4-g128") return kKernel<Int4>;
  return nullptr;
}

}  // namespace kvplan
