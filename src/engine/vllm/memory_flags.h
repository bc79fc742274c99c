// SPDX-License-Identifier: Apache-2.0
// Flags that change what a server stores and not how it serves: formats of caches and states,
// layers left out, weights on the host, captured sizes. vllm/config/{cache,offload,compilation}.py.
#pragma once
#include "engine/settings.h"
#include "engine/vllm/serving.h"

namespace kvplan::vllm {

void read_memory_flags(const Settings&, Serving&);

}  // namespace kvplan::vllm
