// SPDX-License-Identifier: Apache-2.0
#include "cli/roles.h"

#include <set>

namespace kvplan {
namespace {

std::set<Role> roles_named(const std::vector<std::string>& names) {
  std::set<Role> roles;
  for (const std::string& name : names) {
    if (name == "experts") {
      roles.insert({Role::routed_expert, Role::shared_expert});
    } else if (const auto role = find_role(name)) {
      roles.insert(*role);
    } else {
      throw Error("unknown role '" + name + "'")
          .of("--roles")
          .advise(
              "Known are embedding, attention, state, mlp, router, routed_expert, shared_expert, "
              "experts, norm, head and vision.");
    }
  }
  return roles;
}

}  // namespace

void keep_roles(ModelSpec& model, const std::vector<std::string>& names) {
  const std::set<Role> kept = roles_named(names);
  if (!kept.count(Role::head)) model.tied_head = false;
  const auto drop = [&](std::vector<Weight>& weights) {
    std::erase_if(weights, [&](const Weight& w) { return !kept.count(w.role); });
  };
  for (Layer& layer : model.layers) drop(layer.weights);
  drop(model.ends);
  drop(model.vision);
}

}  // namespace kvplan
