// SPDX-License-Identifier: Apache-2.0
// What would help most here: each lever is the same question asked again with one thing changed.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cost/stage.h"
#include "plan/lengths.h"
#include "plan/setup.h"

namespace kvplan {

// What a load comes to under one setup. Rates are ceilings, with experts chosen uniformly.
struct Outcome {
  bool fits = false;
  std::optional<std::int64_t> users;        // sequences of the load's context that fit
  std::optional<double> tokens_per_second;  // all sequences of the load together
  std::optional<Seconds> first_token;       // of one prompt of the load's context
};

struct Lever {
  enum Kind {
    change,    // an option, a flag or more hardware
    in_place,  // what engines do by themselves: gains are against doing without
    model      // needs another model, or training
  } kind = change;
  std::string name;  // "fp8 KV cache"
  std::string how;   // the option or change that does it
  Outcome after;
  // After / before; absent where it is not known or has no meaning.
  std::optional<double> speed_gain, capacity_gain, first_token_gain;
  bool makes_it_fit = false;
  bool helps = false;  // any gain of at least 2 %, or it makes the load fit
  std::string remark;  // why it does nothing, or what it costs
  Basis basis = Basis::ceiling;

  double best_gain() const;
};

struct LeverQuestion {
  Setup setup;        // recipe applied
  ModelSpec as_read;  // before any recipe
  Load load;
  std::vector<RequestLength> lengths;  // of requests; empty: spread evenly up to the load's context
  std::optional<Parallelism> other_layout = {};  // of as many GPUs, that may be better
};
Outcome outcome(const Setup&, const Load&);
// Best first: those that make the load fit, then by the largest gain. Requires a device.
std::vector<Lever> levers(const LeverQuestion&);

}  // namespace kvplan
