// SPDX-License-Identifier: Apache-2.0
// TensorRT-LLM: blocks of a share of the memory that is free once the model is loaded.
#pragma once
#include <memory>

#include "engine/engine.h"

namespace kvplan {

// Throws Error for settings that it cannot follow and for caches whose rule is not known.
std::unique_ptr<Engine> make_trtllm(const EngineOptions&, const ModelSpec&, const Deployment&);

}  // namespace kvplan
