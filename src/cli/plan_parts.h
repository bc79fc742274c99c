// SPDX-License-Identifier: Apache-2.0
// The tables of `plan`, each with its part of the document.
#pragma once
#include <vector>

#include "cli/plan_text.h"
#include "report/document.h"
#include "report/layouts.h"

namespace kvplan {

// The ladder of formats that the engine runs.
std::vector<Rung> weight_formats(const Resolved&, const PlanFacts&);

void add_budget(Document&, const Resolved&, const PlanFacts&);
void add_rates(Document&, Resolved&, const PlanFacts&);
// How far the load that was asked for could go here.
std::vector<Limit> limits(const Request&, const Resolved&, const Load&);

// These go into the object `plan`.
void add_layouts(Document&, Object& plan, const PlanFacts&);
// What the layout copies and sends, and what moving a cache would take.
void add_traffic(Document&, Object& plan, const Resolved&, const PlanFacts&);
void add_ladder(Document&, Object& plan, const Resolved&, const PlanFacts&);
// What can be changed, and apart from it what is there already or would need another model.
void add_levers(Document&, Object& plan, const Resolved&, const PlanFacts&);

}  // namespace kvplan
