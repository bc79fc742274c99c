// SPDX-License-Identifier: Apache-2.0
// How long a step or a prompt is expected to take: by the kernels of a profile, or by whole runs of
// the engine that people published.
#pragma once
#include <cstdint>
#include <optional>

#include "cost/expected.h"
#include "plan/setup.h"

namespace kvplan {

// Whether whole runs of llama.cpp tell of this setup: its engine is llama.cpp or Ollama, or none
// was chosen and the weights are blocks of ggml, which no other engine runs.
bool is_run_by_llamacpp(const ModelSpec&, const EngineOptions&);

// By the setup's profile where it covers the kernels, else by its runs. No faster than the ceiling.
Expected expected_step(const Setup&, const Load&, std::optional<Seconds> ceiling);
Expected expected_prompt(const Setup&, const Load&, std::optional<Seconds> ceiling);

}  // namespace kvplan
