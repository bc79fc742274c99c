// SPDX-License-Identifier: Apache-2.0
#include "plan/choices.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kvplan {

std::optional<Choice> choice(const Setup& setup, const Need& need, std::int64_t most) {
  const DecodeModel refuses_encoders(setup.model, setup.deployment, setup.device.value());
  const std::optional<LayoutRow> layout = fewest_gpus(setup, need, most);
  if (!layout) return std::nullopt;
  Setup here = setup;
  here.deployment.parallel = layout->layout;
  Choice found{setup.device.value(),
               setup.engine.name,
               *layout,
               decode_answer(here, {&need.load, 1}).rows.front(),
               {}};
  if (const auto& price = found.device.price)
    found.usd_per_hour = price->usd_per_hour_low * static_cast<double>(layout->layout.gpus());
  return found;
}

void sort_choices(std::vector<Choice>& choices) {
  const auto order = [](const Choice& c) {
    return std::pair(c.usd_per_hour.value_or(std::numeric_limits<double>::max()),
                     -c.layout.tokens_per_second.value_or(0));
  };
  std::stable_sort(choices.begin(), choices.end(),
                   [&](const Choice& a, const Choice& b) { return order(a) < order(b); });
}

}  // namespace kvplan
