// SPDX-License-Identifier: Apache-2.0
// llama.cpp (llama-server) by build number, its fork ik_llama.cpp where a flag says so, and ollama,
// whose own runner allocates in the same way but for its windows.
#pragma once
#include <memory>

#include "engine/engine.h"

namespace kvplan {

// Throws Error for settings that the build would refuse and for caches whose rule is not known.
std::unique_ptr<Engine> make_llamacpp(const EngineOptions&, const ModelSpec&, const Deployment&);
std::unique_ptr<Engine> make_ollama(const EngineOptions&, const ModelSpec&, const Deployment&);

}  // namespace kvplan
