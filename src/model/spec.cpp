// SPDX-License-Identifier: Apache-2.0
#include "model/spec.h"

namespace kvplan {

std::vector<const Layer*> main_layers(const ModelSpec& model) {
  std::vector<const Layer*> layers;
  for (const Layer& layer : model.layers)
    if (layer.role == Layer::main) layers.push_back(&layer);
  return layers;
}

}  // namespace kvplan
