// SPDX-License-Identifier: Apache-2.0
// model.safetensors.index.json: the shard of every tensor.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kvplan::safetensors {

struct Index {
  std::vector<std::string> files;                        // in the order of their first tensor
  std::unordered_map<std::string, std::size_t> tensors;  // name → files
  std::optional<std::uint64_t> total_bytes;              // as the index says
};

// Throws Error on text that is not an index, and on file names that lead out of the folder.
Index parse_index(std::string_view text);

}  // namespace kvplan::safetensors
