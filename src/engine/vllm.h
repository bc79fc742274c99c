// SPDX-License-Identifier: Apache-2.0
// vLLM: V0, V1 before and after its hybrid cache manager, up to 0.28.
#pragma once
#include <memory>

#include "engine/engine.h"

namespace kvplan {

// Throws Error for settings that it cannot follow, and where the version would refuse the model.
std::unique_ptr<Engine> make_vllm(const EngineOptions&, const ModelSpec&, const Deployment&);

}  // namespace kvplan
