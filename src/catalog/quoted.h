// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace kvplan {

// A YAML (and JSON) string that reads back as the same text.
std::string in_quotes(std::string_view text);

}  // namespace kvplan
