// SPDX-License-Identifier: Apache-2.0
// Which files make up a checkpoint: one file, or the shards that an index names.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "catalog/safetensors/header.h"
#include "error.h"

namespace kvplan::safetensors {

struct Checkpoint {
  std::string folder;  // with a '/' at its end, or empty
  std::vector<StoredTensor> tensors;
  std::vector<Warning> warnings;
  bool complete = true;
};

// `path`: a .safetensors file, a .safetensors.index.json, or a folder that holds one of them. Reads
// the headers of all files that are there; missing ones become a warning.
Checkpoint read_checkpoint(const std::string& path);

}  // namespace kvplan::safetensors
