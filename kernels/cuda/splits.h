// SPDX-License-Identifier: Apache-2.0
// Into how many parts the tokens of a sequence are cut, so that all processors have work.
#pragma once
#include <cstdint>

namespace kvplan {

// `blocks` of the grid for each split; `resident` blocks run at once on the device. The smallest
// number whose waves are filled to 85 % of the best that splits of 256 tokens or more allow.
int splits_for(std::int64_t blocks, std::int64_t resident, std::int64_t tokens);

// Tokens of a split, in whole tiles.
int tokens_per_split(std::int64_t tokens, int splits, int tile);

}  // namespace kvplan
