// SPDX-License-Identifier: Apache-2.0
// The contexts, batches and prompts that were typed, or a command's defaults, as loads.
#pragma once
#include <string_view>
#include <vector>

#include "cli/resolve.h"

namespace kvplan {

// Contexts x batches as typed, contexts outermost; the defaults are noted as assumptions.
std::vector<Load> loads(const Request&, Resolved&, std::string_view default_contexts,
                        std::string_view default_batches);
// Whether anything of a load was typed.
bool asks_load(const Request&);
std::vector<Load> prompts(const Request&, Resolved&);

}  // namespace kvplan
