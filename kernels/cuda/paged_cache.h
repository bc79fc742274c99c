// SPDX-License-Identifier: Apache-2.0
// Where the rows of a cache lie: [block][head][token of the block][row], blocks of a sequence in
// any order, as engines page them. A contiguous cache is one block per sequence.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "units.h"

namespace kvplan {

class PagedCache {
 public:
  // `block_tokens` a power of two from 16 on, or 0: contiguous.
  PagedCache(std::int64_t batch, std::int64_t heads, std::int64_t tokens,
             std::int64_t block_tokens);

  // Rows of a pool, and the row of a token.
  std::int64_t rows() const { return batch_ * blocks_per_sequence * heads_ * block_tokens_; }
  std::int64_t row(std::int64_t sequence, std::int64_t head, std::int64_t token) const;
  std::int64_t rows_per_block() const { return heads_ * block_tokens_; }
  std::int64_t rows_per_head() const { return block_tokens_; }
  // Tokens from `token` on that lie one after the other.
  std::int64_t run_of(std::int64_t token) const;

  std::int64_t blocks_per_sequence;
  int block_shift;
  std::vector<int> table;  // [sequence][block of the sequence]

 private:
  std::int64_t batch_, heads_, tokens_, block_tokens_;
};

}  // namespace kvplan
