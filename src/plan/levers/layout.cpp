// SPDX-License-Identifier: Apache-2.0
// Other ways to spread the model over GPUs, and more of them.
#include "plan/layouts.h"

#include "plan/levers/ask.h"

namespace kvplan::lever {
namespace {

void best_of(const Ask& ask, Levers& found, std::int64_t gpus, const std::string& name) {
  const auto rows = ranked_layouts(ask.q.setup, {ask.q.load, {}, {}, false}, gpus);
  if (rows.empty() || rows.front().own) return;
  const Parallelism best = rows.front().layout;
  attempt(ask, found, name, options_of(best), "",
          [&](Setup& s, Load&) { s.deployment.parallel = best; });
}

}  // namespace

void other_layouts(const Ask& ask, Levers& found) {
  constexpr std::int64_t kMost = 64;
  const std::int64_t gpus = ask.q.setup.deployment.parallel.gpus();
  if (gpus > 1) best_of(ask, found, gpus, "another layout of these GPUs");
  if (2 * gpus <= kMost) best_of(ask, found, 2 * gpus, "twice the GPUs");
}

}  // namespace kvplan::lever
