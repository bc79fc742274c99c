// SPDX-License-Identifier: Apache-2.0
// Every main layer a part of its own, so that its bytes and its time can be counted apart.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "cost/machine.h"

namespace kvplan {

// Numbers of the parts that follow the layers' and the output's.
struct BesideLayers {
  std::size_t host = 0, vision = 0;
  std::optional<std::size_t> experts, caches;  // empty: with their layer
};

// The output has the part after the last of `layers`, draft layers that are loaded with it.
Assignment layers_apart(const ModelSpec&, std::size_t layers, std::vector<bool> unloaded,
                        const BesideLayers&);

}  // namespace kvplan
