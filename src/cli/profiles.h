// SPDX-License-Identifier: Apache-2.0
// Which profile gives expected times, and how it was found.
#pragma once
#include <memory>

#include "cli/resolve.h"
#include "cost/expected.h"
#include "cost/machine.h"
#include "report/document.h"

namespace kvplan {

// --profile FILE, a catalog name or none; else the device's own, else that of a sibling with the
// same architecture, scaled. Of what llama.cpp runs, the user's own or published runs. Notes its
// choice among the assumptions, and what to mistrust among the warnings.
void choose_profile(const Request&, const Catalog&, Resolved&);

// What ships of published runs; null where there is none.
std::shared_ptr<const PublishedRuns> runs_of_llamacpp(const Catalog&);

// The same for each part of a machine; --profile is of those that it names.
void choose_profiles(const Request&, const Catalog&, Machine&, Resolved&);

// Says below a table of rates what the expected ones mean, or why its first row has none; without
// any, nobody is warned of how they were found.
void add_expected_note(Table&, Resolved&, const Expected& first);
void add_expected_note(Table&, const Machine&, Resolved&, const Expected& first);

}  // namespace kvplan
