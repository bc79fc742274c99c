// SPDX-License-Identifier: Apache-2.0
// In which order rows of W meet rows of x, for kernels whose sums stay in registers: a group of
// rows of W meets a piece of x that fits the first-level cache, then the next piece; sums wait in
// between. Goto and van de Geijn (2008) order a product so.
#pragma once
#include <algorithm>

#include "kernels/cpu/gemv.h"
#include "kernels/cpu/vectors.h"

namespace kvplan {

// kRows rows of W from `row` on, kM rows of x from `m0` on, columns [first, last).
struct GemvTile {
  std::int64_t row, m0, first, last;
  std::int64_t ahead;  // bytes from a weight to what is asked for while it is used; 0: nothing
};

constexpr std::int64_t kPieceBytes = 16 * kKiB;  // of x: half of a first-level cache
constexpr std::int64_t kGroupRows = 16;          // of W: sums of 16 · 8 take 8 KiB
constexpr std::int64_t kGroupBytes = 256 * kKiB;

// Block<kM, kRows>::add(task, tile, sums) adds a tile: sums begin at the first column, and become y
// after the last.
template <template <int, int> class Block, int kM, int kRows>
KVPLAN_DOT void add_group(const GemvRows& task, std::int64_t first, std::int64_t last,
                          std::int64_t piece) {
  const Activations& x = *task.x;
  typename Block<kM, kRows>::Sums sums[kGroupRows / kRows];
  const std::int64_t bytes = (last - first) * Block<kM, kRows>::row_bytes(x.k);
  for (std::int64_t m0 = 0; m0 < x.padded; m0 += kM)
    for (std::int64_t k = 0; k < x.k; k += piece)
      for (std::int64_t row = first; row < last; row += kRows)
        Block<kM, kRows>::add(task,
                              {row, m0, k, std::min(x.k, k + piece),
                               m0 == 0 ? std::max(bytes, vectors::kLeastAhead) : 0},
                              sums[(row - first) / kRows]);
}

template <template <int, int> class Block, int kM>
void all_groups(const GemvRows& task) {
  constexpr int kRows = Block<kM, 1>::kTogether;
  const std::int64_t k = task.x->k;
  const std::int64_t piece = std::min(k, kPieceBytes / (2 * kM));
  const std::int64_t fit = kGroupBytes / Block<kM, 1>::row_bytes(k) / kRows * kRows;
  // Where all of x fits, sums need not wait.
  const std::int64_t group = piece == k ? kRows : std::clamp<std::int64_t>(fit, kRows, kGroupRows);
  std::int64_t row = 0;
  // One stream of memory is the fastest where that leaves no register idle.
  if (piece < k || kM > 2)
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
      return all_groups<Block, Block<1, 1>::kMost>(task);
  }
}

}  // namespace kvplan
