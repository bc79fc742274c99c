// SPDX-License-Identifier: Apache-2.0
// Handling of typed words, for values.cpp and lists.cpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace kvplan {

// Throws Error: "WORD" problem. Advice: hint. A long word is cut.
[[noreturn]] void refuse(std::string_view word, std::string_view problem, std::string_view hint);
std::string_view trimmed(std::string_view);  // without spaces around it
std::string lowered(std::string_view);
std::vector<std::string_view> split(std::string_view, char separator);  // each part trimmed

}  // namespace kvplan
