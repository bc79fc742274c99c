// SPDX-License-Identifier: Apache-2.0
// What readers of catalog files ask a map for.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/node.h"

namespace kvplan {

// Throws Error (with line, and the near miss) for a key that is none of these; `what` is "a device
// file".
void allow_only(const Node& map, std::initializer_list<std::string_view> keys,
                std::string_view what);
// Empty when absent.
std::string text_in(const Node& map, std::string_view key);
// Throws Error (with line) when it is no list.
std::vector<std::string> texts_in(const Node& map, std::string_view key);

}  // namespace kvplan
