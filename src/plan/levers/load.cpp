// SPDX-License-Identifier: Apache-2.0
// Another load, more room for it, and what sequences can share.
#include <algorithm>

#include "model/cache.h"
#include "plan/levers/ask.h"
#include "plan/room.h"
#include "plan/solve.h"

namespace kvplan::lever {

// Continuous batching: as many sequences as fit share each read of the weights.
void larger_batch(const Ask& ask, Levers& found) {
  if (!ask.before.users || *ask.before.users <= ask.q.load.batch) return;
  const DecodeModel decode(ask.q.setup.model, ask.q.setup.deployment, *ask.q.setup.device);
  const auto crossover = decode.crossover_batch(ask.q.load.context);
  const std::string most = std::to_string(*ask.before.users);
  std::string remark = "all users together; ";
  if (!crossover)
    remark += "weights bind at any batch";
  else if (*crossover <= ask.q.load.batch)
    remark += "weights no longer bind: past the crossover, batch " + std::to_string(*crossover);
  else
    remark += "weights stop binding at batch " + std::to_string(*crossover);
  if (Lever* lever = attempt(ask, found, "a batch of " + most, "--batch " + most, remark,
                             [&](Setup&, Load& load) { load.batch = *ask.before.users; }))
    lever->capacity_gain.reset(), lever->first_token_gain.reset();
}

// Buffers for sequences that will not come.
void sequence_slots(const Ask& ask, Levers& found) {
  const std::string flag(sequences_flag(ask.q.setup.engine.name));
  if (flag.empty() || ask.gguf || ask.q.setup.engine.settings.contains(flag)) return;
  const std::int64_t slots = ceil_div(std::max(ask.q.load.batch, ask.before.users.value_or(1)),
                                      ask.q.setup.deployment.parallel.dp);
  const Lever* lever =
      attempt(ask, found, "fewer sequence slots", "--set " + flag + "=" + std::to_string(slots), "",
              [&](Setup& s, Load&) { s.engine.settings[flag] = std::to_string(slots); });
  // Of an engine that reserves nothing for slots it says nothing.
  if (lever && lever->capacity_gain.value_or(1) <= 1 && !lever->makes_it_fit) found.pop_back();
}

void more_memory(const Ask& ask, Levers& found) {
  constexpr double kMost = 0.95;
  const auto budget = Room(ask.q.setup).budget();
  if (!budget || !budget->utilization || *budget->utilization >= kMost) return;
  attempt(ask, found, "more memory for the engine", "--utilization 0.95",
          "leaves less for peaks and other programs",
          [&](Setup& s, Load&) { s.engine.utilization = kMost; });
}

// The prefix's own cache is stored once. Only what grows with length is shared: windows and states
// belong to each sequence.
void shared_prefix(const Ask& ask, Levers& found) {
  const Setup& now = ask.q.setup;
  if (ask.q.load.batch < 2 || now.deployment.shared_prefix.n > 0) return;
  const Tokens half(ask.q.load.context.n / 2);
  if (half.n < 1) return;
  Lever* shared = attempt(ask, found, "a shared prefix of half the context",
                          "--shared-prefix " + std::to_string(half.n),
                          "where requests begin alike: system prompt, documents",
                          [&](Setup& s, Load&) { s.deployment.shared_prefix = half; });
  if (!shared) return;
  Lever& lever = *shared;
  lever.basis = Basis::assumed;
  const Room room(now);
  const Parallelism& p = now.deployment.parallel;
  const double once =
      growth_per_token(cache_groups(now.model, now.deployment.cache), {p.tp, p.dcp}) * half.real() /
      static_cast<double>(p.pp);
  const double each = room.engine().reserved(ask.q.load.context, 1).real() - once;
  const double left = room.pool().real() - once;
  if (each <= 0 || left <= 0 || !ask.before.users) return;
  lever.after.users = checked_mul(static_cast<std::int64_t>(left / each), p.dp);
  lever.capacity_gain =
      static_cast<double>(*lever.after.users) / static_cast<double>(*ask.before.users);
  lever.after.fits = *lever.after.users >= ask.q.load.batch;
  lever.makes_it_fit = lever.after.fits && !ask.before.fits;
}

}  // namespace kvplan::lever
