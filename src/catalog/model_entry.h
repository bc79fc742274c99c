// SPDX-License-Identifier: Apache-2.0
// Any file that describes a model → the catalog entry that read_model reads back to the same model:
// the keys that count, and of a checkpoint the weights that it stores.
#pragma once
#include <string>
#include <vector>

#include "catalog/node.h"
#include "error.h"

namespace kvplan {

struct ModelEntry {
  Node file;  // a map
  std::vector<Warning> warnings;
};
// Throws Error where the path does not read as a model.
ModelEntry model_entry(const std::string& path);

}  // namespace kvplan
