// SPDX-License-Identifier: Apache-2.0
// The regular expressions that quantisation schemes use for names, as plain patterns: no
// backtracking, so that a hostile expression costs nothing.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvplan::huggingface {

// Patterns of '*' (any run) and '#' (a run of digits) that together match what the expression
// matches from a name's beginning. Empty when it uses more than literals, ".*", groups of
// alternatives, digits, '^' and '$'.
std::optional<std::vector<std::string>> patterns_of_expression(std::string_view expression);

}  // namespace kvplan::huggingface
