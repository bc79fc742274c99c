// SPDX-License-Identifier: Apache-2.0
#include "plan/layer_times.h"

#include <algorithm>

#include "cost/machine_step.h"
#include "plan/layers_apart.h"

namespace kvplan {
namespace {

// Draft layers take no part in a step.
std::vector<bool> drafts_of(const ModelSpec& model) {
  std::vector<bool> drafts;
  for (const Layer& layer : model.layers) drafts.push_back(layer.role != Layer::main);
  return drafts;
}

std::vector<Seconds> times(const Setup& setup, const DeviceSpec& gpu, const Load& load,
                           const Assignment& where) {
  Machine machine;
  machine.gpus.assign(where.parts - 1, gpu);  // and no host: its time does not count here
  const MachineModel model(setup.model, setup.deployment, machine, where, {});
  const MachineTime time = model.step(load.context, load.batch);
  std::vector<Seconds> seconds;
  for (std::size_t i = 0; i + 1 < where.parts; ++i) seconds.push_back(time.parts[i].seconds);
  return seconds;
}

std::size_t host_share(bool experts, bool cache) { return (experts ? 1U : 0U) + (cache ? 2U : 0U); }

}  // namespace

LayerTimes::LayerTimes(const Setup& setup, const Machine& machine, const Load& load) {
  const auto layers = static_cast<std::size_t>(llamacpp::countable_layers(setup.model) - 1);
  const std::size_t host = layers + 1;
  for (std::size_t p = 0; p < machine.parts(); ++p) {
    DeviceSpec device = machine.part(p) ? *machine.part(p) : DeviceSpec{};
    device.last_level_cache.reset();  // a layer among many finds nothing of itself there
    ByHostShare& shares = parts_.emplace_back();
    for (const bool cache : {false, true})
      for (const bool experts : {false, true}) {
        BesideLayers beside{host, host, std::nullopt, std::nullopt};
        if (experts) beside.experts = host;
        if (cache) beside.caches = host;
        shares[host_share(experts, cache)] = times(
            setup, device, load, layers_apart(setup.model, layers, drafts_of(setup.model), beside));
      }
  }
}

Seconds LayerTimes::of(std::size_t part, std::int64_t layer, std::size_t share) const {
  return parts_[part][share][static_cast<std::size_t>(layer)];
}

Seconds LayerTimes::on_gpu(std::size_t gpu, std::int64_t layer,
                           const llamacpp::Split& split) const {
  return of(gpu, layer, host_share(layer < split.cpu_moe, split.cache_on_host));
}

Seconds LayerTimes::on_host(std::int64_t layer) const { return of(parts_.size() - 1, layer, 0); }

Seconds LayerTimes::left_to_host(std::int64_t layer, const llamacpp::Split& split) const {
  const std::size_t host = parts_.size() - 1;
  return of(host, layer, 0) -
         of(host, layer, host_share(layer < split.cpu_moe, split.cache_on_host));
}

}  // namespace kvplan
