// SPDX-License-Identifier: Apache-2.0
// The "serving" part of decode and plan: what a server kept full of such requests gives.
#pragma once
#include <span>

#include "cli/resolve.h"
#include "plan/serving.h"
#include "report/document.h"

namespace kvplan {

// One row for each number of users; nothing without requests.
void add_serving(Document&, const Resolved&, std::span<const Requests>);
// What --input and --output ask for, at the batch of each load; empty unless both are given.
std::vector<Requests> asked_requests(const Request&, std::span<const Load>);

}  // namespace kvplan
