// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace kvplan {

// A YAML (and JSON) string that reads back as the same text; bytes that are no UTF-8 are replaced.
std::string in_quotes(std::string_view text);

}  // namespace kvplan
