// SPDX-License-Identifier: Apache-2.0
#include "plan/layers_apart.h"

#include <algorithm>
#include <utility>

namespace kvplan {

Assignment layers_apart(const ModelSpec& model, std::size_t layers, std::vector<bool> unloaded,
                        const BesideLayers& beside) {
  Assignment where;
  where.output = layers;
  where.table = beside.host;
  where.vision = beside.vision;
  where.parts = 1 + std::max({beside.host, beside.vision, beside.experts.value_or(0),
                              beside.caches.value_or(0)});
  where.unloaded = std::move(unloaded);
  std::size_t number = 0;
  for (const Layer& layer : model.layers) {
    const std::size_t own = std::min(number, layers);
    auto& held = where.weights.emplace_back();
    for (const Weight& w : layer.weights)
      held.push_back(w.role == Role::routed_expert ? beside.experts.value_or(own) : own);
    where.caches.push_back(beside.caches.value_or(own));
    number += layer.role == Layer::main;
  }
  return where;
}

}  // namespace kvplan
