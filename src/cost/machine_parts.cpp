// SPDX-License-Identifier: Apache-2.0
#include "cost/machine_parts.h"

#include <algorithm>

#include "cost/prefill.h"

namespace kvplan {
namespace {

// By part; `of` gives the portions of one whose device is known.
template <class PortionsOf>
std::vector<PartPortion> by_part(const ModelSpec& model, const Deployment& deployment,
                                 const Machine& machine, const Assignment& where, PortionsOf of) {
  const auto terms = part_terms(model, deployment, where);
  std::vector<PartPortion> all;
  for (std::size_t p = 0; p < terms.size(); ++p) {
    const DeviceSpec* device = machine.part(p);
    if (!device || device->bandwidth.value.v <= 0) continue;
    for (const Portion& portion : of(terms[p], *device))
      if (portion.bytes.n > 0 || portion.flops.v > 0) all.push_back({p, portion});
  }
  return all;
}

void keep(std::vector<Weight>& weights, const std::vector<std::size_t>& parts, std::size_t part) {
  std::vector<Weight> kept;
  for (std::size_t k = 0; k < weights.size(); ++k)
    if (parts[k] == part) kept.push_back(weights[k]);
  weights = std::move(kept);
}

}  // namespace

std::vector<PartPortion> step_portions(const ModelSpec& model, const Deployment& deployment,
                                       const Machine& machine, const Assignment& where,
                                       Tokens context, std::int64_t batch) {
  const Past past{context, deployment.shared_prefix, deployment.source_tokens};
  return by_part(model, deployment, machine, where,
                 [&](const RankTerms& terms, const DeviceSpec& device) {
                   auto portions = weight_portions(terms, device, {batch, batch, batch});
                   for (const CacheTerm& cache : terms.caches)
                     portions.push_back(cache_portion(cache, step_use(cache, past, batch), device));
                   return portions;
                 });
}

std::vector<PartPortion> prompt_portions(const ModelSpec& model, const Deployment& deployment,
                                         const Machine& machine, const Assignment& where,
                                         Tokens prompt, std::int64_t batch) {
  const PromptLoad load = prompt_load(deployment, prompt, batch);
  return by_part(model, deployment, machine, where,
                 [&](const RankTerms& terms, const DeviceSpec& device) {
                   return prefill_portions(terms, device, load);
                 });
}

ModelSpec part_of(const ModelSpec& whole, const Assignment& where, std::size_t part) {
  ModelSpec model = whole;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    Layer& layer = model.layers[i];
    if (where.unloaded[i])
      layer.weights.clear();
    else
      keep(layer.weights, where.weights[i], part);
    if (where.caches[i] != part) layer.mixer = {};
    layer.mixer.shares_cache_of.reset();  // whose layer may lie elsewhere; it reads as much
  }
  model.tied_head = whole.tied_head && where.output == part;
  std::erase_if(model.ends, [&](const Weight& w) {
    const bool table = w.role == Role::embedding;
    return (table && !model.tied_head ? where.table : where.output) != part;
  });
  model.vision.clear();
  return model;
}

namespace {

bool has_profile(const Machine& machine) {
  return machine.host_profile ||
         std::any_of(machine.gpu_profiles.begin(), machine.gpu_profiles.end(),
                     [](const auto& profile) { return profile != nullptr; });
}

// By the profile of one part; nothing to run is no reason to have none.
Expected on_part(const Machine& machine, std::size_t part, const Launches& launches) {
  if (launches.all.empty() && launches.missing.empty())
    return {Estimate{Seconds(0), Seconds(0), Seconds(0), 1}, ""};
  const Profile* profile = machine.profile(part);
  const DeviceSpec* device = machine.part(part);
  const std::string name = device ? device->name : "the host";
  if (!profile) return {std::nullopt, "no profile of " + name};
  Expected own = expected(launches, *profile);
  if (!own.time) own.why_not += " in the profile of " + name;
  return own;
}

Estimate exactly(Seconds seconds) { return {seconds, seconds, seconds, 1}; }

bool sends_matrices(const ModelSpec& host, const Machine& machine, const TurnRules& rules,
                    std::int64_t tokens) {
  if (!rules.copies_from || tokens < *rules.copies_from || machine.gpus.empty()) return false;
  const auto is_matrix = [](const Weight& w) { return w.is_matrix && w.role != Role::head; };
  return std::any_of(host.layers.begin(), host.layers.end(), [&](const Layer& layer) {
    return std::any_of(layer.weights.begin(), layer.weights.end(), is_matrix);
  });
}

// The passes of one prompt through one part: all but the last, and the last.
struct PassTimes {
  Estimate before, last;
};
struct PassesOrWhy {
  std::optional<PassTimes> times;
  std::string why_not;
};
PassesOrWhy passes_on(const ModelSpec& held, const Deployment& deployment, const Machine& machine,
                      std::size_t part, std::int64_t prompt, std::int64_t piece) {
  PassTimes times{exactly(Seconds(0)), exactly(Seconds(0))};
  for (std::int64_t past = 0; past < prompt; past += piece) {
    const PromptPass pass{std::min(piece, prompt - past), past, past + piece >= prompt};
    const Expected own = on_part(machine, part, pass_launches(held, deployment, pass));
    if (!own.time) return {std::nullopt, own.why_not};
    (pass.last ? times.last : times.before) = (pass.last ? times.last : times.before) + *own.time;
  }
  return {times, ""};
}

}  // namespace

Expected step_expected(const ModelSpec& model, const Deployment& deployment, const Machine& machine,
                       const Assignment& where, Tokens context, std::int64_t batch,
                       Seconds between) {
  if (!has_profile(machine)) return {std::nullopt, "no profile"};
  Estimate sum = exactly(between);
  for (std::size_t p = 0; p < where.parts; ++p) {
    Expected own =
        on_part(machine, p, decode_launches(part_of(model, where, p), deployment, context, batch));
    if (!own.time) return own;
    sum = sum + *own.time;
  }
  return {sum, ""};
}

Expected prompt_expected(const ModelSpec& model, const Deployment& deployment,
                         const Machine& machine, const Assignment& where, const TurnRules& rules,
                         Tokens prompt, std::int64_t batch, Seconds between) {
  if (!has_profile(machine)) return {std::nullopt, "no profile"};
  const std::int64_t piece = std::min(rules.pass_tokens, prompt.n);
  Estimate last = exactly(Seconds(0)), before = last;
  for (std::size_t p = 0; p < where.parts; ++p) {
    const ModelSpec held = part_of(model, where, p);
    if (p == machine.host_part() && sends_matrices(held, machine, rules, piece))
      return {std::nullopt, "no law of matrices that the host sends to a GPU"};
    const auto own = passes_on(held, deployment, machine, p, prompt.n, piece);
    if (!own.times) return {std::nullopt, own.why_not};
    last = last + own.times->last;
    if (!rules.overlaps_passes)
      before = before + own.times->before;
    else if (own.times->before.value > before.value)
      before = own.times->before;
  }
  return {static_cast<double>(batch) * (before + last) + exactly(between), ""};
}

}  // namespace kvplan
