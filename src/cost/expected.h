// SPDX-License-Identifier: Apache-2.0
// What a profile expects of a step or a prompt: its kernels one after the other.
#pragma once
#include <optional>
#include <string>

#include "cost/launches.h"
#include "cost/profile.h"

namespace kvplan {

struct Expected {
  std::optional<Estimate> time;
  std::string why_not;  // where there is none: "no fit for int4 weights"
};
Expected expected(const Launches&, const Profile&);

// A law may be wrong where it was never measured; no time is shorter than its ceiling.
Estimate no_faster_than(Seconds ceiling, const Estimate&);

}  // namespace kvplan
