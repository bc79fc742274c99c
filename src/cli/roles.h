// SPDX-License-Identifier: Apache-2.0
// --roles: questions about a part of a model.
#pragma once
#include <string>
#include <vector>

#include "model/spec.h"

namespace kvplan {

// Drops the weights of all other roles; "experts" is routed and shared ones. Throws Error for a
// name that is no role.
void keep_roles(ModelSpec&, const std::vector<std::string>& roles);

}  // namespace kvplan
