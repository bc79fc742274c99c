// SPDX-License-Identifier: Apache-2.0
#include "model/spec.h"

#include <algorithm>
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

bool generates(const ModelSpec& model) {
  return model.layers.empty() || std::any_of(model.layers.begin(), model.layers.end(),
                                             [](const Layer& l) { return l.mixer.causal; });
}

bool has_experts(const Layer& layer) {
  return std::any_of(layer.weights.begin(), layer.weights.end(),
                     [](const Weight& w) { return w.role == Role::routed_expert; });
}

bool has_experts(const ModelSpec& model) {
  return std::any_of(model.layers.begin(), model.layers.end(),
                     [](const Layer& layer) { return has_experts(layer); });
}

}  // namespace kvplan
