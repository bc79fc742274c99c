// SPDX-License-Identifier: Apache-2.0
// Devices to choose from for a load: how many of each it takes, how fast they can be, what they
// cost.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/layouts.h"
#include "plan/speed.h"

namespace kvplan {

struct Choice {
  DeviceSpec device;
  std::string engine;
  LayoutRow layout;                    // the best on the fewest devices that meet the need
  DecodeRow rate;                      // of the load
  std::optional<double> usd_per_hour;  // of all these devices, at the lowest price known
};

// Of the setup's device, at most `most`; empty where that many do not meet the need. Throws Error
// for a model that writes no text.
std::optional<Choice> choice(const Setup&, const Need&, std::int64_t most);

// Those with a price first, the cheapest of them first; then the others, the fastest first.
void sort_choices(std::vector<Choice>&);

}  // namespace kvplan
