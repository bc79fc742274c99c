// SPDX-License-Identifier: Apache-2.0
// In which order W meets x in tiles of AMX: 16 rows of W and a block of rows of x at a time, whose
// sums stay in tiles for a piece of the columns. Then come the next 16 rows of W, until the block
// is to leave the second-level cache for the next.
#pragma once
#include <algorithm>

#include "kernels/cpu/gemv.h"
#include "kernels/cpu/tiles.h"
#include "kernels/cpu/vectors.h"

namespace kvplan::amx {

constexpr std::int64_t kPanel = tiles::kRows;  // rows of x in a tile
constexpr std::int64_t kChunkRows = 128;       // of W
constexpr std::int64_t kAhead = 1024;          // bytes of a row that are asked for early

// Rows of x in a block of up to `most`, as panels of 16 of which the last may be narrower.
struct Block {
  std::int64_t m0, rows;
  std::int64_t panels() const { return ceil_div(rows, kPanel); }
  std::int64_t width(std::int64_t panel) const { return std::min(kPanel, rows - panel * kPanel); }
};

// Up to 16 rows of W and [first, last) of their columns meet a block of x.
struct Part {
  std::int64_t row, rows, first, last;
  Block x;
};

// All parts of a task in turn.
class Parts {
 public:
  // Of `columns` and blocks of `block_rows` of x.
  Parts(const GemvRows& task, std::int64_t columns, std::int64_t block_rows)
      : rows_(task.rows),
        k_(task.x->k),
        padded_(task.x->padded),
        columns_(columns),
        block_rows_(block_rows) {}

  bool over() const { return chunk_ >= rows_; }
  Part now() const {
    return {row_,
            std::min<std::int64_t>(tiles::kRows, rows_ - row_),
            first_,
            std::min(k_, first_ + columns_),
            {m0_, std::min(block_rows_, padded_ - m0_)}};
  }
  void advance() {
    row_ += tiles::kRows;
    if (row_ < std::min(rows_, chunk_ + kChunkRows)) return;
    row_ = chunk_;
    m0_ += block_rows_;
    if (m0_ < padded_) return;
    m0_ = 0;
    first_ += columns_;
    if (first_ < k_) return;
    first_ = 0;
    row_ = chunk_ += kChunkRows;
  }

 private:
  std::int64_t rows_, k_, padded_, columns_, block_rows_;
  std::int64_t chunk_ = 0, first_ = 0, m0_ = 0, row_ = 0;
};

// Where the numbers of a part lie, and of what comes next.
struct Source {
  const std::byte *from, *next;
  std::int64_t row_bytes, bytes;  // from row to row; of a row

  // Asks for the `count` bytes of each row that are needed kAhead bytes from `at` on. Every row is
  // a stream of its own to a core's prefetcher.
  [[gnu::always_inline]] void fetch(std::int64_t at, std::int64_t count) const {
    const std::int64_t ahead = at + std::min(kAhead, bytes);
    const std::byte* line = ahead < bytes ? from + ahead : next + (ahead - bytes);
    for (int r = 0; r < tiles::kRows; ++r) vectors::fetch(line + r * row_bytes, count);
  }
};

}  // namespace kvplan::amx
