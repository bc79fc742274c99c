// SPDX-License-Identifier: Apache-2.0
// Weights that are bf16 numbers (fp8 all are) meet x in products of pairs of bf16.
#include "kernels/cpu/gemv_tiles.h"
#include "kernels/cpu/pairs.h"

namespace kvplan {
namespace {

using pairs::as_bf16;

template <class Weights, int kM, int kRows>
struct PairBlock {
  // Rows of x and of W at a time: as many as leave all sums in registers.
  static constexpr int kMost = kPairRows, kTogether = kM <= 4 ? 4 : 2;
  static std::int64_t row_bytes(std::int64_t k) { return k * Weights::kBytes; }
  using Sums = __m512[kRows][kM];

  KVPLAN_DOT static void add(const GemvRows& task, const GemvTile& tile, Sums& kept) {
    // Few sums would wait for each other: there are several of each.
    constexpr int kChains = kM * kRows >= 4 ? 1 : 4 / (kM * kRows);
    const Activations& x = *task.x;
    const Weights weights;
    const std::byte* rows = task.weights + tile.row * row_bytes(x.k);
    const std::uint16_t* in = x.pairs.data() + tile.m0 * x.k + tile.first * kM;
    __m512 sums[kChains][kRows][kM];
    for (int c = 0; c < kChains; ++c)
      for (int r = 0; r < kRows; ++r)
        for (int m = 0; m < kM; ++m)
          sums[c][r][m] = c == 0 && tile.first > 0 ? kept[r][m] : _mm512_setzero_ps();
    pairs::Words w[kRows];
    for (std::int64_t k0 = tile.first; k0 < tile.last; k0 += kGemvBlock)
#pragma GCC unroll 4
      for (int step = 0; step < kGemvBlock / 32; ++step, in += kM * 32) {
        if (step % 2 == 0)
          for (int r = 0; r < kRows; ++r) {
            const std::int64_t k = k0 + 32 * step;
            const std::byte* row = rows + r * row_bytes(x.k);
            if (tile.ahead)
              vectors::fetch(row + k * Weights::kBytes + tile.ahead, 64 * Weights::kBytes);
            w[r] = weights.row(row, k);
          }
        for (int m = 0; m < kM; ++m) {
          const __m512bh x_of_row = as_bf16(_mm512_load_si512(in + 32 * m));
          for (int r = 0; r < kRows; ++r)
            sums[step % kChains][r][m] =
                _mm512_dpbf16_ps(sums[step % kChains][r][m],
                                 as_bf16(step % 2 == 0 ? w[r].low : w[r].high), x_of_row);
        }
      }
    for (int r = 0; r < kRows; ++r)
      for (int m = 0; m < kM; ++m) {
        for (int c = 1; c < kChains; ++c)
          sums[0][r][m] = _mm512_add_ps(sums[0][r][m], sums[c][r][m]);
        if (tile.last < x.k)
          kept[r][m] = sums[0][r][m];
        else
          task.y[(tile.row + r) * x.padded + tile.m0 + m] = _mm512_reduce_add_ps(sums[0][r][m]);
      }
  }
};

template <int kM, int kRows>
struct Bf16Block : PairBlock<pairs::Bf16, kM, kRows> {};
template <int kM, int kRows>
struct Fp8Block : PairBlock<pairs::Fp8, kM, kRows> {};

}  // namespace

GemvKernel gemv_dot_pairs(const Format& format) {
  if (format.name == "bf16") return all_tiles<Bf16Block>;
  if (format.name == "fp8") return all_tiles<Fp8Block>;
  return nullptr;
}

}  // namespace kvplan
