// SPDX-License-Identifier: Apache-2.0
// GGUF files of whole models for tests, small but for their keys.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "catalog/gguf_writer.h"
#include "catalog/node.h"
#include "model/spec.h"

namespace kvplan::testing {

using Keys = std::vector<std::pair<std::string, std::uint32_t>>;

// A file with one tensor; keys without the architecture's name before them.
GgufWriter file_of(const std::string& architecture, const Keys& = {});
// As a row of tests/truth describes it: `architecture`, and `keys` without its name; lists shorter
// than the number of blocks stand for their pattern.
GgufWriter file_of(const Node& row);
ModelSpec read(const GgufWriter&);

// `count` values, the pattern over and over.
std::vector<std::int32_t> repeat(const std::vector<std::int32_t>& pattern, std::size_t count);
// The same as layer_types of a configuration: 0 is "full_attention", 1 "sliding_attention".
std::string layer_types(const std::vector<std::int32_t>& pattern, std::size_t count);

// Equal caches of the same model from its GGUF keys and from its config.json.
void check_caches(const GgufWriter&, const std::string& config);
// And nothing left unread.
// The catalog entry of the file reads back to the same model.
void check_same(const GgufWriter&, const std::string& config);

}  // namespace kvplan::testing
