// SPDX-License-Identifier: Apache-2.0
// What `plan` says in sentences.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cli/resolve.h"
#include "plan/ladder.h"
#include "plan/layouts.h"
#include "plan/lengths.h"
#include "plan/sizing.h"
#include "plan/speed.h"

namespace kvplan {

constexpr Tokens kUsersContext{8192};  // "users at 8k"

// What `plan` answers from.
struct PlanFacts {
  std::optional<Load> asked;
  std::vector<RequestLength> requests;  // of --lengths
  std::optional<LengthAnswer> lengths;
  Need need;  // what layouts are searched for
  Sizing sizing;
  DecodeAnswer rates;
  LayoutSearch layouts;
  std::vector<Rung> ladder;              // of weight formats, for the need's length
  Tokens longest;                        // request that the engine accepts
  std::optional<Tokens> refused_length;  // the model's own or the asked one, where it is refused
  bool starts = true;                    // with the length that was asked of it
  bool fast_enough = true;

  bool yes() const { return sizing.fits && starts && fast_enough; }
};

std::string lead_of(const Resolved&, const PlanFacts&);
// What the engine does when nobody names a length: it takes the model's own and may refuse.
std::optional<std::string> default_length_note(const Resolved&, const PlanFacts&);

}  // namespace kvplan
