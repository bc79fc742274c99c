// SPDX-License-Identifier: Apache-2.0
// Which file leads to a checkpoint, when its user names a folder, an index or one of the shards.
#pragma once
#include <string>

#include "catalog/safetensors.h"

namespace kvplan::safetensors {

struct Entry {
  Found found = Found::none;
  std::string path;  // an index, a whole file, or one of several shards that have no index
};

Entry entry_of(const std::string& path);

}  // namespace kvplan::safetensors
