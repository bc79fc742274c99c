// SPDX-License-Identifier: Apache-2.0
// Words of a POSIX shell line: quotes and backslashes, no expansion.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace kvplan {

// Throws Error where a quote is left open. A backslash before a line's end joins lines.
std::vector<std::string> shell_words(std::string_view line);
// The word as a shell reads it back.
std::string shell_quoted(std::string_view word);

}  // namespace kvplan
