// SPDX-License-Identifier: Apache-2.0
// Quantised checkpoints store a matrix as packed words with scales and zero points beside it. This
// finds the parts of each matrix by name and says what they hold once unpacked.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "catalog/safetensors/header.h"
#include "catalog/tensors.h"

namespace kvplan::safetensors {

// What shapes alone cannot tell; from the configuration's quantisation.
struct PackHints {
  std::optional<std::int64_t> bits, group;
};

// Tensors with logical shapes, parameters and formats; in the order given.
std::vector<Tensor> unpack(std::vector<StoredTensor>, const PackHints&);

}  // namespace kvplan::safetensors
