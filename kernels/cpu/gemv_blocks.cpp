// SPDX-License-Identifier: Apache-2.0
// Weights in ggml's blocks meet an x of 8 bits in exact products of whole numbers; every 16 sums
// are scaled. Engines of these formats multiply so.
#include <array>

#include "kernels/cpu/blocks.h"
#include "kernels/cpu/blocks_dot.h"
#include "kernels/cpu/gemv_tiles.h"

namespace kvplan {
namespace {

using blocks::kGroup;
using blocks::kGroups;
using blocks::kNumbers;
using blocks::Parts;

// Sums of a block's products, by plain loops …
struct Plain {
  template <class Blocks>
  [[gnu::always_inline]] static float products(const Parts& w, const ByteBlock& in) {
    float sum = 0;
    for (std::int64_t g = 0; g < kGroups; ++g) {
      int products = 0;
      for (std::int64_t i = kGroup * g; i < kGroup * (g + 1); ++i)
        products += w.codes[i] * in.numbers[i];
      sum += w.scales[g] * static_cast<float>(products) - w.offsets[g] * in.sums[g];
    }
    return sum;
  }
};

// … and two groups at a time. Products of two codes of more than six bits would not fit 16 bits:
// those are multiplied as two halves.
struct Avx2 {
  template <class Blocks>
  [[gnu::always_inline]] KVPLAN_AVX2 static float products(const Parts& w, const ByteBlock& in) {
    __m256 sum = _mm256_setzero_ps();
    for (std::int64_t g = 0; g < kGroups; g += 8)
      sum = _mm256_fnmadd_ps(_mm256_load_ps(w.offsets + g), _mm256_load_ps(in.sums + g), sum);
#pragma GCC unroll 8
    for (std::int64_t g = 0; g < kGroups; g += 2) {
      const __m256i x = vector(in.numbers + kGroup * g);
      const __m256i exact = pairs<Blocks::kCodeBits>(vector(w.codes + kGroup * g), x);
      const __m256 scales =
          _mm256_setr_m128(_mm_set1_ps(w.scales[g]), _mm_set1_ps(w.scales[g + 1]));
      sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(exact), scales, sum);
    }
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  }

 private:
  [[gnu::always_inline]] KVPLAN_AVX2 static __m256i vector(const void* from) {
    const auto* halves = static_cast<const __m128i*>(from);  // as they were written
    return _mm256_setr_m128i(_mm_load_si128(halves), _mm_load_si128(halves + 1));
  }
  template <int kCodeBits>
  [[gnu::always_inline]] KVPLAN_AVX2 static __m256i pairs(__m256i codes, __m256i x) {
    if constexpr (kCodeBits <= 6)
      return _mm256_madd_epi16(_mm256_maddubs_epi16(codes, x), _mm256_set1_epi16(1));
    const __m256i mask = _mm256_set1_epi8(15);
    const __m256i low = _mm256_and_si256(codes, mask);
    const __m256i high = _mm256_and_si256(_mm256_srli_epi16(codes, 4), mask);
    return _mm256_add_epi32(
        _mm256_madd_epi16(_mm256_maddubs_epi16(low, x), _mm256_set1_epi16(1)),
        _mm256_madd_epi16(_mm256_maddubs_epi16(high, x), _mm256_set1_epi16(16)));
  }
};

// Each block of W meets all rows of x. (A function for one instruction set takes no other in.)
template <class Blocks>
void portable(const GemvRows& task) {
  const Activations& x = *task.x;
  const std::int64_t in_row = x.k / kNumbers;
  std::fill_n(task.y, task.rows * x.padded, 0.0f);
  for (std::int64_t b = 0; b < task.rows * in_row; ++b) {
    Parts w;
    blocks::take_apart<Blocks>(task.weights + b * Blocks::kBytes, w);
    float* y = task.y + b / in_row * x.padded;
    for (std::int64_t m = 0; m < x.m; ++m) {
      const ByteBlock in = x.byte_block(m, b - b / in_row * in_row);
      y[m] += in.step * Plain::products<Blocks>(w, in);
    }
  }
}
template <class Blocks>
KVPLAN_AVX2 void avx2(const GemvRows& task) {
  const Activations& x = *task.x;
  const std::int64_t in_row = x.k / kNumbers;
  std::fill_n(task.y, task.rows * x.padded, 0.0f);
  for (std::int64_t b = 0; b < task.rows * in_row; ++b) {
    Parts w;
    blocks::take_apart<Blocks>(task.weights + b * Blocks::kBytes, w);
    float* y = task.y + b / in_row * x.padded;
    for (std::int64_t m = 0; m < x.m; ++m) {
      const ByteBlock in = x.byte_block(m, b - b / in_row * in_row);
      y[m] += in.step * Avx2::products<Blocks>(w, in);
    }
  }
}

template <class Blocks, int kM, int kRows>
struct ByteTile {
  static constexpr int kTogether = 1;  // what x costs to load is little beside taking W apart
  static constexpr std::int64_t kInputBytes = 1;
  static constexpr bool kNear = true;
  static std::int64_t row_bytes(std::int64_t k) { return k / kNumbers * Blocks::kBytes; }
  using Sums = GemvSums<kM, kRows, 1>;

  KVPLAN_DOT static void add(const GemvRows& task, const GemvTile& tile,
                             typename Sums::Kept& kept) {
    const Activations& x = *task.x;
    const std::byte* from = task.weights + tile.row * row_bytes(x.k) + row_bytes(tile.first);
    Sums sums;
    sums.clear();
    for (std::int64_t k = tile.first; k < tile.last; k += kNumbers, from += Blocks::kBytes) {
      if (tile.ahead) vectors::fetch(from + tile.ahead, Blocks::kBytes);
      blocks::dot::Parts w;
      Blocks::take_apart(from, w);
#pragma GCC unroll 8
      for (int m = 0; m < kM; ++m) {
        const ByteBlock in = x.byte_block(tile.m0, k / kNumbers, m, kM);
        sums.of[0][0][m] =
            _mm512_fmadd_ps(products(w, in), _mm512_set1_ps(in.step), sums.of[0][0][m]);
      }
    }
    sums.end(task, tile, kept, [](std::int64_t, std::int64_t) { return 1.0f; });
  }

 private:
  [[gnu::always_inline]] KVPLAN_DOT static __m512 products(const blocks::dot::Parts& w,
                                                           const ByteBlock& in) {
    __m512i sum = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < 4; ++j)
      sum = _mm512_dpbusd_epi32(sum, w.codes[j], _mm512_load_si512(in.lanes + 64 * j));
    const __m512 offset = _mm512_mul_ps(w.offsets, _mm512_load_ps(in.sums));
    return _mm512_fmsub_ps(_mm512_cvtepi32_ps(sum), w.scales, offset);
  }
};

template <class Blocks>
struct Tiles {
  template <int kM, int kRows>
  using Block = ByteTile<Blocks, kM, kRows>;
};

struct Row {
  std::string_view format;
  GemvKernel portable, avx2, dot;
};
template <class Blocks, class Dot>
constexpr Row row(std::string_view format) {
  return {format, portable<Blocks>, avx2<Blocks>, all_tiles<Tiles<Dot>::template Block>};
}
constexpr std::array kKernels = {
    row<blocks::Q8_0, blocks::dot::Q8_0>("q8_0"), row<blocks::Q4_0, blocks::dot::Q4_0>("q4_0"),
    row<blocks::Q4K, blocks::dot::Q4K>("q4_k"),   row<blocks::Q5K, blocks::dot::Q5K>("q5_k"),
    row<blocks::Q6K, blocks::dot::Q6K>("q6_k"),   row<blocks::Q2K, blocks::dot::Q2K>("q2_k"),
    row<blocks::Q3K, blocks::dot::Q3K>("q3_k"),
};

}  // namespace

GemvChoice gemv_blocks(const Format& format, Isa isa) {
  const auto found = std::find_if(kKernels.begin(), kKernels.end(),
                                  [&](const Row& row) { return row.format == format.name; });
  if (found == kKernels.end()) return {};
  if (isa >= Isa::dot) return {found->dot, Arithmetic::byte_quads, true};
  return {isa >= Isa::avx2 ? found->avx2 : found->portable, std::nullopt, true};
}

}  // namespace kvplan
