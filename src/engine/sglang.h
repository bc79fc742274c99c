// SPDX-License-Identifier: Apache-2.0
// SGLang: pools of tokens, of window tokens and of states that share the memory left after load.
#pragma once
#include <memory>

#include "engine/engine.h"

namespace kvplan {

// Throws Error for settings that it cannot follow and for caches whose rule is not known.
std::unique_ptr<Engine> make_sglang(const EngineOptions&, const ModelSpec&, const Deployment&);

}  // namespace kvplan
