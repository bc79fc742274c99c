// SPDX-License-Identifier: Apache-2.0
// kv-plan devices [FILTER] --for MODEL.
#pragma once
#include <string>
#include <vector>

#include "cli/answer.h"

namespace kvplan {

// Which of these devices of the catalog serve the model and the load that was asked for.
Answer answer_choices(const Request&, const Catalog&, const std::vector<std::string>& devices);

}  // namespace kvplan
