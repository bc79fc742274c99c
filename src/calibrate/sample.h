// SPDX-License-Identifier: Apache-2.0
// One measured time of one shape, wherever it was measured.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "cost/shape.h"
#include "units.h"

namespace kvplan {

using Shape = std::variant<GemmShape, DecodeAttentionShape, PrefillAttentionShape,
                           LatentDecodeShape, MoeShape, CollectiveShape>;

struct Measured {
  Shape shape;
  Seconds time;
  std::string variant;  // what else distinguishes a law: a library; empty mostly
};

}  // namespace kvplan
