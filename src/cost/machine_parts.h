// SPDX-License-Identifier: Apache-2.0
// A step or a prompt on a machine, part by part and operator by operator, and what the profiles of
// its parts expect of a step.
#pragma once
#include <cstdint>
#include <vector>

#include "cost/breakdown.h"
#include "cost/expected.h"
#include "cost/machine.h"
#include "cost/machine_step.h"

namespace kvplan {

struct PartPortion {
  std::size_t part = 0;
  Portion portion;
};
// What each part reads and multiplies, wherever an engine then does the arithmetic. Parts of
// unknown speed are left out.
std::vector<PartPortion> step_portions(const ModelSpec&, const Deployment&, const Machine&,
                                       const Assignment&, Tokens context, std::int64_t batch);
std::vector<PartPortion> prompt_portions(const ModelSpec&, const Deployment&, const Machine&,
                                         const Assignment&, Tokens prompt, std::int64_t batch);

// The model as far as one part holds it: a layer whose matrices or cache lie elsewhere stays,
// without them.
ModelSpec part_of(const ModelSpec&, const Assignment&, std::size_t part);

// One step, part after part, by the profile of each; `between` is the time on links.
Expected step_expected(const ModelSpec&, const Deployment&, const Machine&, const Assignment&,
                       Tokens context, std::int64_t batch, Seconds between);
// One prompt after the other, pass after pass. None where an engine sends matrices of the host to
// a GPU: no profile measures that.
Expected prompt_expected(const ModelSpec&, const Deployment&, const Machine&, const Assignment&,
                         const TurnRules&, Tokens prompt, std::int64_t batch, Seconds between);

}  // namespace kvplan
