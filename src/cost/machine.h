// SPDX-License-Identifier: Apache-2.0
// One computer whose parts (unequal GPUs, and the host with its memory) each hold a share of a
// model, and what each part then has to do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cost/device.h"
#include "cost/profile.h"
#include "cost/rank.h"

namespace kvplan {

struct Machine {
  std::vector<DeviceSpec> gpus;
  std::optional<DeviceSpec> host;  // absent: nothing is known of its memory and speed
  // For expected times; null, or fewer than there are GPUs, where there is none.
  std::vector<std::shared_ptr<const Profile>> gpu_profiles;
  std::shared_ptr<const Profile> host_profile;

  std::size_t parts() const { return gpus.size() + 1; }
  std::size_t host_part() const { return gpus.size(); }  // the last part
  const DeviceSpec* part(std::size_t i) const {          // nullptr: a host that nobody named
    return i < gpus.size() ? &gpus[i] : host ? &*host : nullptr;
  }
  const Profile* profile(std::size_t i) const {  // nullptr where there is none
    if (i == host_part()) return host_profile.get();
    return i < gpu_profiles.size() ? gpu_profiles[i].get() : nullptr;
  }
  std::optional<Bytes> memory(std::size_t i) const {  // empty where nobody says
    const DeviceSpec* device = part(i);
    if (!device || device->memory.value.n <= 0) return std::nullopt;
    return device->memory.value;
  }
};

// Which part holds what, by its number. An engine's rules fill it.
struct Assignment {
  std::size_t parts = 1;
  std::vector<std::vector<std::size_t>> weights;  // [layer][weight], as in ModelSpec::layers
  std::vector<std::size_t> caches;                // [layer]
  std::vector<bool> unloaded;                     // [layer]: draft layers that are not in use
  std::size_t table = 0, output = 0, vision = 0;

  // Of the weights that are no routed experts; the part that runs the layer.
  std::size_t runs(const ModelSpec&, std::size_t layer) const;
};

// What each part holds, reads and multiplies.
std::vector<RankTerms> part_terms(const ModelSpec&, const Deployment&, const Assignment&);

// How often a token's activations enter or leave each part on their way through the layers.
std::vector<std::int64_t> crossings(const ModelSpec&, const Assignment&);

}  // namespace kvplan
