// SPDX-License-Identifier: Apache-2.0
// Python's way to print arguments: key='text', key=Name(a=1) or {'key': value, …}. Tolerant: what
// does not look like a pair is passed over, and a text that breaks off gives what it held.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kvplan::logs {

// Pairs of the outermost level, values without quotes. At most 1,000.
std::vector<std::pair<std::string, std::string>> python_pairs(std::string_view text);
// What is between the brackets of "Name(…)" or "{…}"; empty where there are none.
std::string_view inside(std::string_view value);

}  // namespace kvplan::logs
