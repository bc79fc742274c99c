// SPDX-License-Identifier: Apache-2.0
#include "plan/levers.h"

#include <algorithm>
#include <array>

#include "cost/prefill.h"
#include "plan/levers/ask.h"
#include "plan/room.h"

namespace kvplan {
namespace {

using namespace lever;

constexpr std::array kLevers = {weight_formats,  cache_format,   low_bit_activations,
                                larger_batch,    sequence_slots, more_memory,
                                wired_limit,     shared_prefix,  speculation,
                                other_layouts,   paged_cache,    flash_attention,
                                grouped_kernels, graphs,         chunked_prefill,
                                fewer_heads,     pruning,        adapters};

}  // namespace

double Lever::best_gain() const {
  return std::max(
      {speed_gain.value_or(0), capacity_gain.value_or(0), first_token_gain.value_or(0)});
}

Outcome outcome(const Setup& setup, const Load& load) {
  Outcome result;
  const Room room(setup);
  result.fits = room.holds(load);
  result.users = room.largest_batch(load.context);
  const DecodeModel decode(setup.model, setup.deployment, setup.device.value());
  const Step step = decode.at(load.context, load.batch);
  if (const auto seconds = step.typical_seconds ? step.typical_seconds : step.seconds)
    result.tokens_per_second = static_cast<double>(load.batch) / seconds->v;
  if (load.context.n >= 1)
    result.first_token =
        prefill(setup.model, setup.deployment, *setup.device, load.context, 1).seconds;
  return result;
}

std::vector<Lever> levers(const LeverQuestion& question) {
  const Ask ask(question);
  std::vector<Lever> found;
  for (const auto& add : kLevers) add(ask, found);
  for (Lever& lever : found) judge(lever, ask);
  std::stable_sort(found.begin(), found.end(), [](const Lever& a, const Lever& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.makes_it_fit != b.makes_it_fit) return a.makes_it_fit;
    return a.best_gain() > b.best_gain();
  });
  return found;
}

}  // namespace kvplan
