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

Expected step_expected(const ModelSpec& model, const Deployment& deployment, const Machine& machine,
                       const Assignment& where, Tokens context, std::int64_t batch,
                       Seconds between) {
  std::optional<Estimate> sum;
  const auto profiles = std::count_if(machine.gpu_profiles.begin(), machine.gpu_profiles.end(),
                                      [](const auto& profile) { return profile != nullptr; });
  if (!machine.host_profile && profiles == 0) return {std::nullopt, "no profile"};
  for (std::size_t p = 0; p < where.parts; ++p) {
    const Launches launches = decode_launches(part_of(model, where, p), deployment, context, batch);
    if (launches.all.empty() && launches.missing.empty()) continue;
    const Profile* profile = machine.profile(p);
    const DeviceSpec* device = machine.part(p);
    const std::string name = device ? device->name : "the host";
    if (!profile) return {std::nullopt, "no profile of " + name};
    const Expected own = expected(launches, *profile);
    if (!own.time) return {std::nullopt, own.why_not + " in the profile of " + name};
    sum = sum ? *sum + *own.time : own.time;
  }
  if (!sum) return {std::nullopt, "nothing to run"};
  const Estimate links{between, between, between, 1};
  return {*sum + links, ""};
}

}  // namespace kvplan
