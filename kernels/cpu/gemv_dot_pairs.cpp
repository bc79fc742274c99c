// SPDX-License-Identifier: Apache-2.0
// Weights that are bf16 numbers (fp8 all are) meet x in products of pairs of bf16.
#include "kernels/cpu/gemv_tiles.h"
#include "kernels/cpu/pairs.h"

namespace kvplan {
namespace {

using pairs::as_bf16;

template <class Weights, int kM, int kRows>
struct PairBlock {
  // With one row of x and bytes, one stream of memory is faster than four.
  static constexpr int kTogether = kM == kTileRows ? 3 : kM == 1 && Weights::kBytes == 1 ? 1 : 4;
  static constexpr std::int64_t kInputBytes = 2;
  static constexpr bool kNear = false;
  static std::int64_t row_bytes(std::int64_t k) { return k * Weights::kBytes; }
  using Sums = GemvSums<kM, kRows>;

  KVPLAN_DOT static void add(const GemvRows& task, const GemvTile& tile,
                             typename Sums::Kept& kept) {
    const Activations& x = *task.x;
    const Weights weights;
    const std::byte* rows = task.weights + tile.row * row_bytes(x.k);
    const std::uint16_t* in = x.pairs.data() + tile.m0 * x.k + tile.first * kM;
    Sums sums;
    sums.clear();
    pairs::Words w[kRows];
    for (std::int64_t k0 = tile.first; k0 < tile.last; k0 += kGemvBlock)
#pragma GCC unroll 4
      for (int step = 0; step < kGemvBlock / 32; ++step, in += kM * 32) {
        if (step % 2 == 0)
          for (int r = 0; r < kRows; ++r) {
            const std::byte* from = rows + r * row_bytes(x.k) + (k0 + 32 * step) * Weights::kBytes;
            if (tile.ahead) vectors::fetch(from + tile.ahead, 64 * Weights::kBytes);
            w[r] = weights.row(from, 0);
          }
        for (int m = 0; m < kM; ++m) {
          const __m512bh x_of_row = as_bf16(vectors::in_register(_mm512_load_si512(in + 32 * m)));
          for (int r = 0; r < kRows; ++r) {
            __m512& sum = sums.of[step % Sums::kChains][r][m];
            sum = _mm512_dpbf16_ps(sum, as_bf16(step % 2 == 0 ? w[r].low : w[r].high), x_of_row);
          }
        }
      }
    sums.end(task, tile, kept, [](std::int64_t, std::int64_t) { return 1.0f; });
  }
};

template <int kM, int kRows>
using Bf16Block = PairBlock<pairs::Bf16, kM, kRows>;
template <int kM, int kRows>
using Fp8Block = PairBlock<pairs::Fp8, kM, kRows>;

}  // namespace

GemvKernel gemv_dot_pairs(const Format& format) {
  if (format.name == "bf16") return all_tiles<Bf16Block>;
  if (format.name == "fp8") return all_tiles<Fp8Block>;
  return nullptr;
}

}  // namespace kvplan
