// SPDX-License-Identifier: Apache-2.0
// No engine at all: the bytes that the mathematics needs, on the GPUs that hold them.
#pragma once
#include <memory>

#include "engine/engine.h"

namespace kvplan {

std::unique_ptr<Engine> make_ideal(const EngineOptions&, const ModelSpec&, const Deployment&);

}  // namespace kvplan
