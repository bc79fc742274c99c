// SPDX-License-Identifier: Apache-2.0
// What a profile expects of a step or a prompt: its kernels one after the other.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/launches.h"
#include "cost/profile.h"

namespace kvplan {

struct Expected {
  std::optional<Estimate> time;
  std::string why_not = {};   // where there is none: "no fit for int4 weights"
  std::string stand_in = {};  // what another kernel's law times: "states of mamba2 as …"
  std::string rests_on = {};  // what but a profile's kernels: "12 published runs of llama.cpp on …"
};
Expected expected(const Launches&, const Profile&);

// One kernel of a step or a prompt: how often it runs, and the time of one run where a law fits it.
struct KernelTime {
  Shape shape;
  std::int64_t count = 1;
  std::optional<Estimate> once;

  std::optional<Estimate> all() const {
    return once ? std::optional(static_cast<double>(count) * *once) : std::nullopt;
  }
};
std::vector<KernelTime> kernel_times(const Launches&, const Profile&);

// A law may be wrong where it was never measured; no time is shorter than its ceiling.
Estimate no_faster_than(Seconds ceiling, const Estimate&);

}  // namespace kvplan
