// SPDX-License-Identifier: Apache-2.0
// Why an engine refused to start, and what would let it: each change is the same start asked again.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/start_log.h"
#include "plan/setup.h"

namespace kvplan {

struct Change {
  std::string how;                // as options of the engine: "--max-model-len 122080"
  bool fits = false;              // a request of full length, or of the changed length
  std::optional<Tokens> longest;  // request that fits then
  std::string costs;
};

struct Remedy {
  Refusal refusal;              // the last one
  Tokens length;                // of the request that had to fit
  std::vector<Change> changes;  // those that fit first, the smallest first
  std::string needs;            // the option without which no change can be computed; empty: none
};

// Nothing where the engine did not refuse.
std::optional<Remedy> remedy(const Setup&, const StartLog&);

}  // namespace kvplan
