// SPDX-License-Identifier: Apache-2.0
// One table a file; flags.h looks them up.
#pragma once
#include "engine/flags.h"

namespace kvplan {

EngineFlags vllm_flags();
EngineFlags sglang_flags();
EngineFlags trtllm_flags();
EngineFlags llamacpp_flags();
EngineFlags ollama_flags();

}  // namespace kvplan
