// SPDX-License-Identifier: Apache-2.0
// The line to run for a plan, and the length that it gives the engine.
#pragma once
#include "cli/plan_text.h"
#include "report/document.h"

namespace kvplan {

// Without a length the engine takes the model's own; where it would refuse that, or the one that
// was asked of it, the plan is for the longest that it accepts. Needs PlanFacts::sizing; sets the
// engine's length and PlanFacts::longest.
void choose_length(Resolved&, PlanFacts&);

// Adds the line where the load fits, and what it leaves to do.
void add_command(Document&, Object& plan, const Resolved&, const PlanFacts&);

}  // namespace kvplan
