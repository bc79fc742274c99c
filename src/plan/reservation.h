// SPDX-License-Identifier: Apache-2.0
// What a way of reserving cache wastes for requests of given lengths: one contiguous piece of the
// longest length per request, or blocks as they fill (Kwon et al., "Efficient Memory Management …
// with PagedAttention", 2023).
#pragma once
#include <cstdint>
#include <span>

#include "units.h"

namespace kvplan {

struct Waste {
  double contiguous = 0;  // share of reserved tokens never written: 1 - mean / reserved length
  double paged = 0;       // likewise, the unfilled rest of each last block
};
// `lengths` are final lengths in tokens, all >= 1 and <= reserved; not empty. block >= 1.
Waste reservation_waste(std::span<const std::int64_t> lengths, std::int64_t reserved,
                        std::int64_t block);

}  // namespace kvplan
