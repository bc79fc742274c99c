// SPDX-License-Identifier: Apache-2.0
// A checkpoint of safetensors files with the config.json beside it.
#pragma once
#include <string>

#include "catalog/tensors.h"
#include "model/spec.h"

namespace kvplan {

// Whether a folder holds a checkpoint: an index, one file, or one set of shards.
enum class Found { none, one, several };
Found find_safetensors(const std::string& folder);

// `path`: a .safetensors file, a .safetensors.index.json, or a folder with either. Mixers from
// config.json, weights from the files' headers; where the two differ, the model's warnings say how.
ModelSpec read_safetensors(const std::string& path);
// Needs no config.json; with it, packed integers are unpacked by its number of bits.
TensorTable read_safetensors_tensors(const std::string& path);

}  // namespace kvplan
