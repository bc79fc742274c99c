// SPDX-License-Identifier: Apache-2.0
// What goes to a terminal beside the answer. Names in it come from files of unknown origin.
#pragma once
#include <string>
#include <vector>

#include "error.h"

namespace kvplan {

// "kv-plan: config.json:12: num_attention_heads: what is wrong" and, on a line of its own, what to
// do.
std::string refusal_text(const Error&);
std::string warning_text(const Warning&);
// One a line; of very many the first, and how many more there are.
std::string warnings_text(const std::vector<Warning>&);

}  // namespace kvplan
