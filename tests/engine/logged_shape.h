// SPDX-License-Identifier: Apache-2.0
// A row of tests/truth/engine_*.yaml → a model of the widths that the log printed.
#pragma once
#include <string>
#include <vector>

#include "catalog/node.h"
#include "engine/engine.h"

namespace kvplan::test {

// Rows of a file of tests/truth.
std::vector<Node> truth_rows(const std::string& file);

std::string text_at(const Node& row, std::string_view key, const std::string& otherwise = {});
std::int64_t integer_at(const Node& row, std::string_view key, std::int64_t otherwise = 0);

// `layers:` of a row. Each item holds `count` and one of: kv_heads, width, v_width, window ·
// heads, latent, rope, nope, v_width, index · recurrent, k_heads, v_heads, width, state, taps,
// channels.
ModelSpec model_at(const Node& row);
// `engine`, `version` and `set:` of a row.
EngineOptions options_at(const Node& row, std::string engine);

}  // namespace kvplan::test
