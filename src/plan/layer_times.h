// SPDX-License-Identifier: Apache-2.0
// How long each part takes for each layer of a decode step, by the law of an engine that runs its
// parts in turn: what the search for a division over unequal GPUs adds up.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "cost/machine.h"
#include "engine/llamacpp/placement.h"
#include "plan/setup.h"

namespace kvplan {

class LayerTimes {
 public:
  LayerTimes(const Setup&, const Machine&, const Load&);

  // Of a main layer, or of the output (their number), with what the split leaves of it to the GPU.
  // Zero where a part's rates are not known.
  Seconds on_gpu(std::size_t gpu, std::int64_t layer, const llamacpp::Split&) const;
  // Of a layer as a whole on the host, and of what a layer that runs on a GPU leaves there.
  Seconds on_host(std::int64_t layer) const;
  Seconds left_to_host(std::int64_t layer, const llamacpp::Split&) const;

 private:
  // One a layer and one for the output, by what goes to the host: nothing, the routed experts, the
  // cache, both.
  using ByHostShare = std::array<std::vector<Seconds>, 4>;
  Seconds of(std::size_t part, std::int64_t layer, std::size_t share) const;

  std::vector<ByHostShare> parts_;  // the GPUs, then the host
};

}  // namespace kvplan
