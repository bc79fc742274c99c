// SPDX-License-Identifier: Apache-2.0
// What vLLM leaves for the cache: memory x utilisation, less weights, activations, what lies
// outside the allocator, and (since 0.21) the estimate of the CUDA graphs.
#pragma once
#include "engine/vllm/activation.h"
#include "engine/vllm/weights.h"

namespace kvplan::vllm {

Budget budget_of(const Served&, const RankWeights&, const ActivationShape&, const DeviceSpec&,
                 std::optional<Bytes> reserve);

}  // namespace kvplan::vllm
