// SPDX-License-Identifier: Apache-2.0
#include "model/spec.h"

#include <array>

namespace kvplan {
namespace {

// In the order of Role.
constexpr std::array<std::string_view, 10> kRoles = {
    "embedding",     "attention",     "state", "mlp",  "router",
    "routed_expert", "shared_expert", "norm",  "head", "vision"};

}  // namespace

std::string_view name_of(Role role) { return kRoles[static_cast<std::size_t>(role)]; }

std::optional<Role> find_role(std::string_view name) {
  for (std::size_t i = 0; i < kRoles.size(); ++i)
    if (kRoles[i] == name) return static_cast<Role>(i);
  return std::nullopt;
}

std::vector<const Layer*> main_layers(const ModelSpec& model) {
  std::vector<const Layer*> layers;
  for (const Layer& layer : model.layers)
    if (layer.role == Layer::main) layers.push_back(&layer);
  return layers;
}

}  // namespace kvplan
