// SPDX-License-Identifier: Apache-2.0
#include "cost/decode.h"

#include <algorithm>

#include "error.h"

namespace kvplan {
namespace {

// The smallest n in (good, bad] for which `holds` is false, given that it is so at `bad` alone.
template <class Holds>
std::int64_t first_failure(std::int64_t good, std::int64_t bad, Holds holds) {
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return bad;
}

}  // namespace

DecodeModel::DecodeModel(const ModelSpec& model, const Deployment& deployment,
                         const DeviceSpec& device)
    : parallel_(deployment.parallel) {
  if (!generates(model))
    throw Error(model.name + " is an encoder: it reads a text at once and writes none")
        .of("MODEL")
        .advise("Ask kv-plan prefill how long a text takes.");
  for (const RankTerms& rank : rank_terms(model, deployment))
    stages_.emplace_back(rank, deployment, device);
}

BatchShare DecodeModel::share(std::int64_t batch) const {
  return {ceil_div(batch, parallel_.dp), parallel_.pooled(batch)};
}

StageStep DecodeModel::slowest(Tokens context, BatchShare batch) const {
  StageStep most = stages_[0].step(context, batch);
  for (std::size_t s = 1; s < stages_.size(); ++s)
    if (const StageStep step = stages_[s].step(context, batch); step.total() > most.total())
      most = step;
  return most;
}

// Every stage must do its part of each step (a maximum), and no token can pass the stages faster
// than alone (a sum).
Step DecodeModel::at(Tokens context, std::int64_t batch, Trace* trace) const {
  const BatchShare split = share(batch);
  Step result;
  Seconds longest, typical, alone, typical_alone;
  double flops = 0;
  bool has_experts = false;
  for (const Stage& stage : stages_) {
    const StageStep step = stage.step(context, split, trace);
    result.weight_bytes += step.weights * parallel_.tp;
    result.kv_bytes += step.cache * parallel_.tp;
    flops += step.flops * static_cast<double>(parallel_.tp);
    if (step.total() >= longest) longest = step.total(), result.bound = step.bound();
    typical = std::max(typical, step.typical());
    has_experts = has_experts || stage.has_experts();
    if (stages_.size() == 1) continue;
    const StageStep single = stage.step(context, {});
    alone += single.total();
    typical_alone += single.typical();
  }
  result.flops = Flops(flops);
  longest = std::max(longest, alone);
  if (stages_[0].bandwidth().v <= 0 || longest.v <= 0) return result;  // nothing known bounds it
  result.seconds = longest;
  if (has_experts) result.typical_seconds = std::max(typical, typical_alone);
  if (trace) trace->note("step = the longest of these times, over all GPUs", {}, longest.v, "s");
  return result;
}

std::optional<std::int64_t> DecodeModel::crossover_batch(Tokens context) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 20;
  const auto weights_bind = [&](std::int64_t batch) {
    const StageStep step = slowest(context, share(batch));
    return step.total() == step.memory && step.weights >= step.cache;
  };
  if (!weights_bind(1)) return 1;
  std::int64_t good = 1;
  while (good < kMost && weights_bind(2 * good)) good *= 2;
  if (good >= kMost) return std::nullopt;
  return first_failure(good, 2 * good, weights_bind);
}

std::optional<Tokens> DecodeModel::crossover_context(std::int64_t batch) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  const auto weights_lead = [&](std::int64_t n) {
    const StageStep step = slowest(Tokens(n), share(batch));
    return step.weights >= step.cache;
  };
  if (!weights_lead(1)) return Tokens(1);
  std::int64_t good = 1;
  while (good < kMost && weights_lead(2 * good)) good *= 2;
  if (good >= kMost) return std::nullopt;
  return Tokens(first_failure(good, 2 * good, weights_lead));
}

}  // namespace kvplan
