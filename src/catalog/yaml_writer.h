// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "catalog/node.h"

namespace kvplan {

// A map as YAML text that parse_yaml reads back to the same tree: one line a member, lists and maps
// without maps inside in flow style.
std::string to_yaml(const Node& map);

}  // namespace kvplan
