// SPDX-License-Identifier: Apache-2.0
// What would help most here: each lever is the same question asked again with one thing changed.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/setup.h"

namespace kvplan {

// What a load comes to under one setup.
struct Outcome {
  bool fits = false;
  std::optional<std::int64_t> users;        // sequences of the load's context that fit
  std::optional<double> tokens_per_second;  // ceiling, all sequences of the load together
};

struct Lever {
  std::string name;  // "fp8 KV cache"
  std::string how;   // the option or change that does it
  Outcome after;
  double speed_gain = 1;     // tokens per second, after / before
  double capacity_gain = 1;  // users, after / before
  bool makes_it_fit = false;
  bool helps = false;  // any gain of at least 2 %, or it makes the load fit
  std::string remark;  // why it does nothing, or what it costs
  Basis basis = Basis::ceiling;
};

struct LeverQuestion {
  Setup setup;        // recipe applied
  ModelSpec as_read;  // before any recipe
  Load load;
};
Outcome outcome(const Setup&, const Load&);
// Best first: those that make the load fit, then by the larger of both gains. Requires a device.
std::vector<Lever> levers(const LeverQuestion&);

}  // namespace kvplan
