// SPDX-License-Identifier: Apache-2.0
#include "engine/stages.h"

namespace kvplan {
namespace {

// The stage of each layer of the model.
std::vector<std::int64_t> stage_numbers(const ModelSpec& model, std::int64_t pp) {
  const auto mains = static_cast<std::int64_t>(main_layers(model).size());
  std::vector<std::int64_t> numbers;
  std::int64_t seen = 0, stage = 0;
  for (const Layer& layer : model.layers) {
    while (stage < pp - 1 && seen >= stage_layers(mains, pp, stage).second) ++stage;
    numbers.push_back(layer.role == Layer::mtp ? pp - 1 : stage);
    seen += layer.role == Layer::main;
  }
  return numbers;
}

}  // namespace

std::vector<std::vector<CacheGroup>> groups_of_stages(const ModelSpec& model,
                                                      const Deployment& deployment, bool with_mtp) {
  const auto groups = cache_groups(model, deployment.cache, with_mtp);
  const auto numbers = stage_numbers(model, deployment.parallel.pp);
  std::vector<std::vector<CacheGroup>> stages;
  for (std::int64_t stage = 0; stage < deployment.parallel.pp; ++stage) {
    const auto elsewhere = [&](int layer) {
      return numbers[static_cast<std::size_t>(layer)] != stage;
    };
    std::vector<CacheGroup>& held = stages.emplace_back();
    for (CacheGroup group : groups) {
      std::erase_if(group.layers, elsewhere);
      std::erase_if(group.readers, elsewhere);
      if (!group.layers.empty()) held.push_back(std::move(group));
    }
  }
  return stages;
}

}  // namespace kvplan
