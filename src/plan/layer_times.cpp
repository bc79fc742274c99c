// SPDX-License-Identifier: Apache-2.0
#include "plan/layer_times.h"

#include <algorithm>

#include "cost/machine_step.h"

namespace kvplan {
namespace {

// Every layer on a GPU of its own; the output has the last, the host the rest.
Assignment each_alone(const ModelSpec& model, std::size_t layers, bool experts_on_host,
                      bool cache_on_host) {
  const std::size_t host = layers + 1;
  Assignment where;
  where.parts = host + 1;
  where.table = where.vision = host;
  where.output = layers;
  std::size_t number = 0;
  for (const Layer& layer : model.layers) {
    const std::size_t own = std::min(number, layers);
    auto& held = where.weights.emplace_back();
    for (const Weight& w : layer.weights)
      held.push_back(experts_on_host && w.role == Role::routed_expert ? host : own);
    where.caches.push_back(cache_on_host ? host : own);
    where.unloaded.push_back(layer.role != Layer::main);
    number += layer.role == Layer::main;
  }
  return where;
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
  for (std::size_t p = 0; p < machine.parts(); ++p) {
    DeviceSpec device = machine.part(p) ? *machine.part(p) : DeviceSpec{};
    device.last_level_cache.reset();  // a layer among many finds nothing of itself there
    ByHostShare& shares = parts_.emplace_back();
    for (const bool cache : {false, true})
      for (const bool experts : {false, true})
        shares[host_share(experts, cache)] =
            times(setup, device, load, each_alone(setup.model, layers, experts, cache));
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
