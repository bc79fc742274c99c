// SPDX-License-Identifier: Apache-2.0
// What published runs taught, as configs/runs has it.
#pragma once
#include <string>

#include "catalog/node.h"
#include "cost/published_runs.h"

namespace kvplan {

// Reads back to what it was written from, at the digits that are written.
std::string runs_text(const PublishedRuns&);
// Throws Error (with line) for a key that is missing, unknown or out of its range.
PublishedRuns read_runs(const Node&);

}  // namespace kvplan
