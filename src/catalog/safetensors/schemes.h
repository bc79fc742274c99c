// SPDX-License-Identifier: Apache-2.0
// What a packed matrix with its scales and zero points holds. Layouts: AutoAWQ, AutoGPTQ,
// compressed-tensors, NVIDIA ModelOpt, gpt-oss, DeepSeek, MLX, bitsandbytes, each as published.
#pragma once
#include <string>
#include <vector>

#include "catalog/safetensors/header.h"
#include "catalog/safetensors/packing.h"

namespace kvplan::safetensors {

enum class Part { payload, scale, global, zero, other };

struct PackedMatrix {
  const StoredTensor* payload;
  const StoredTensor *scale, *global, *zero;  // nullptr where the file has none
  bool is_qweight;                            // AWQ's or GPTQ's layout: inputs first
};

struct Scheme {
  std::vector<std::int64_t> shape;  // unpacked, outputs before inputs
  const Format* format = nullptr;
  bool accounts_for_all = false;  // the format's own scales are exactly the stored ones
};

// Never guesses bytes: where the parts do not add up to a known format, the format is that of the
// payload alone, and the rest counts apart.
Scheme scheme_of(const PackedMatrix&, const PackHints&);

}  // namespace kvplan::safetensors
