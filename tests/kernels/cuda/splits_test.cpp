// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/splits.h"

#include <doctest/doctest.h>

#include <set>

#include "kernels/cuda/paged_cache.h"

using namespace kvplan;

TEST_CASE("a grid that fills the device is not split") {
  // 264 blocks run at once: 1056 are four whole waves.
  CHECK(splits_for(1056, 264, 8192) == 1);
  CHECK(splits_for(264, 264, 100000) == 1);
}

TEST_CASE("a small grid is split as far as it fills one wave well") {
  // 8 blocks on 264 places: 32 splits of 256 tokens fill 256/264 = 0.97; 85 % of that, 0.824, takes
  // 217.6 blocks, so 28 splits.
  CHECK(splits_for(8, 264, 8192) == 28);
  // No split is shorter than 256 tokens.
  CHECK(splits_for(8, 264, 2048) == 7);  // 8 are possible and fill best; 7 reach 85 % of it
  CHECK(splits_for(1, 264, 255) == 1);
}

TEST_CASE("a grid of one block more than a wave is split, so that the second wave is not idle") {
  // 265 blocks fill two waves to 0.50; two splits fill three waves (530 of 792) to 0.67, three
  // (795 of 1056) to 0.75, four (1060 of 1320) to 0.80: the limit is 0.85 of the best.
  CHECK(splits_for(265, 264, 1024) == 3);
}

TEST_CASE("splits are whole tiles and cover all tokens") {
  CHECK(tokens_per_split(1000, 3, 16) == 336);
  CHECK(tokens_per_split(16, 1, 16) == 16);
  CHECK(tokens_per_split(1, 1, 16) == 16);
}

TEST_CASE("each token of a paged cache has a row of its own, and a tile lies in one piece") {
  const PagedCache cache(2, 3, 50, 16);
  CHECK(cache.blocks_per_sequence == 4);
  std::set<std::int64_t> rows;
  for (std::int64_t sequence = 0; sequence < 2; ++sequence)
    for (std::int64_t head = 0; head < 3; ++head)
      for (std::int64_t token = 0; token < 50; ++token) {
        const std::int64_t row = cache.row(sequence, head, token);
        CHECK(row < cache.rows());
        CHECK(rows.insert(row).second);
        if (token % 16 != 0) CHECK(row == cache.row(sequence, head, token - 1) + 1);
      }
  CHECK(cache.run_of(0) == 16);
  CHECK(cache.run_of(49) == 1);
  CHECK(PagedCache(2, 3, 50, 0).run_of(7) == 43);
}
