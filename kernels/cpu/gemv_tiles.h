// SPDX-License-Identifier: Apache-2.0
// In which order rows of W meet rows of x, for kernels whose sums stay in registers: a group of
// rows of W meets a piece of x that fits the first-level cache, then the next piece; sums wait in
// between. Goto and van de Geijn (2008) order a product so.
#pragma once
#include <algorithm>

#include "kernels/cpu/gemv.h"
#include "kernels/cpu/vectors.h"

namespace kvplan {

// Rows of W from `row` on, rows of x from `m0` on, columns [first, last).
struct GemvTile {
  std::int64_t row, m0, first, last;
  std::int64_t ahead;  // bytes from a weight to what is asked for while it is used; 0: nothing
};

constexpr std::int64_t kPieceBytes = 16 * kKiB;  // of x: half of a first-level cache
constexpr std::int64_t kGroupRows = 16;          // of W: sums of 16 · 8 take 8 KiB
constexpr std::int64_t kGroupBytes = 256 * kKiB;

// Sums of kM rows of x and kRows rows of W. Few would wait for each other: then there are several
// of each, which take turns.
template <int kM, int kRows, int kTurns = std::max(1, 8 / (kM * kRows))>
struct GemvSums {
  static constexpr int kChains = kTurns;
  using Kept = __m512[kRows][kM];
  __m512 of[kChains][kRows][kM];

  [[gnu::always_inline]] KVPLAN_AVX512 void clear() {
    for (int c = 0; c < kChains; ++c)
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
        for (int m = 0; m < kM; ++m) of[c][r][m] = _mm512_setzero_ps();
  }
  [[gnu::always_inline]] KVPLAN_AVX512 void add(const Kept& kept) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (int m = 0; m < kM; ++m) of[0][r][m] = _mm512_add_ps(of[0][r][m], kept[r][m]);
  }
  // With what they were they wait, or after the last column become y, times scale(row, row of x).
  template <class Scale>
  [[gnu::always_inline]] KVPLAN_AVX512 void end(const GemvRows& task, const GemvTile& tile,
                                                Kept& kept, const Scale& scale) {
    for (int c = 1; c < kChains; ++c)
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
        for (int m = 0; m < kM; ++m) of[0][r][m] = _mm512_add_ps(of[0][r][m], of[c][r][m]);
    if (tile.first > 0) add(kept);
    if (tile.last < task.x->k) {
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
        for (int m = 0; m < kM; ++m) kept[r][m] = of[0][r][m];
      return;
    }
    alignas(16) float sums[kRows * kM];
    const __m512* all = of[0][0];
    if constexpr (kRows * kM % 4 == 0)
#pragma GCC unroll 8
      for (int i = 0; i < kRows * kM; i += 4)
        _mm_store_ps(sums + i,
                     vectors::folded<vectors::Sum>(all[i], all[i + 1], all[i + 2], all[i + 3]));
    else
      for (int i = 0; i < kRows * kM; ++i) sums[i] = _mm512_reduce_add_ps(all[i]);
    float* y = task.y + tile.row * task.x->padded + tile.m0;
    for (int r = 0; r < kRows; ++r)
      for (int m = 0; m < kM; ++m)
        y[r * task.x->padded + m] = sums[r * kM + m] * scale(tile.row + r, tile.m0 + m);
  }
};

// Block<kM, kRows>::add(task, tile, kept) adds a tile to sums that begin at the first column.
// kNear: with one row of x it reads faster where memory is asked just ahead, on cores that follow
// streams.
template <template <int, int> class Block, int kM, int kRows>
void add_group(const GemvRows& task, std::int64_t first, std::int64_t last, std::int64_t piece) {
  const Activations& x = *task.x;
  typename GemvSums<kM, kRows>::Kept kept[kGroupRows / kRows];
  const std::int64_t bytes = (last - first) * Block<kM, kRows>::row_bytes(x.k);
  const bool near = task.near && Block<kM, kRows>::kNear && kM == 1;
  const std::int64_t ahead = near ? vectors::kNear : std::max(bytes, vectors::kLeastAhead);
  for (std::int64_t m0 = 0; m0 < x.padded; m0 += kM)
    for (std::int64_t k = 0; k < x.k; k += piece)
      for (std::int64_t row = first; row < last; row += kRows)
        Block<kM, kRows>::add(task, {row, m0, k, std::min(x.k, k + piece), m0 == 0 ? ahead : 0},
                              kept[(row - first) / kRows]);
}

// As many rows of W together as leave all sums in registers: 24 of 32.
template <template <int, int> class Block, int kM>
void all_groups(const GemvRows& task) {
  constexpr int kRows = Block<kM, 1>::kTogether;
  const std::int64_t k = task.x->k, row_bytes = Block<kM, 1>::row_bytes(k);
  const std::int64_t fit = kPieceBytes / (Block<kM, 1>::kInputBytes * kM);
  const std::int64_t piece = std::min(k, fit / kGemvBlock * kGemvBlock);
  // Where all of x fits, no row of W needs to wait for others.
  const bool all_fits = piece == k && task.x->padded <= kM;
  const std::int64_t most = all_fits ? 1 : std::min(kGroupRows, kGroupBytes / row_bytes);
  const std::int64_t group = std::max<std::int64_t>(most / kRows, 1) * kRows;
  std::int64_t row = 0;
  for (std::int64_t next; row + kRows <= task.rows; row = next) {
    next = std::min(row + group, row + (task.rows - row) / kRows * kRows);
    add_group<Block, kM, kRows>(task, row, next, piece);
  }
  for (; row < task.rows; ++row) add_group<Block, kM, 1>(task, row, row + 1, piece);
}

template <template <int, int> class Block>
void all_tiles(const GemvRows& task) {
  switch (task.x->padded) {
    case 1:
      return all_groups<Block, 1>(task);
    case 2:
      return all_groups<Block, 2>(task);
    case 4:
      return all_groups<Block, 4>(task);
    default:
      return all_groups<Block, kTileRows>(task);
  }
}

}  // namespace kvplan
