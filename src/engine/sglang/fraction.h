// SPDX-License-Identifier: Apache-2.0
// Share of memory for weights and caches together, where the user names none: what activations and
// graphs of the chosen sizes need is left out. sglang/srt/server_args.py of 0.4.6, 0.4.9, 0.5.3,
// 0.5.9, 0.5.12, 0.5.16 and 0.5.18; arg_groups/memory_hook.py of 0.5.20 and 0.5.23.
#pragma once
#include <cstdint>

#include "cost/deployment.h"
#include "engine/engine.h"

namespace kvplan::sglang {

// `low` and `high` hold models with a vision tower.
struct Fraction {
  double low = 0, value = 0, high = 0;
};
Fraction memory_fraction(const EngineOptions&, const ModelSpec&, const Parallelism&, Bytes memory);

// Sizes up to `most` tokens for which graphs of the prefill are captured.
std::int64_t prefill_graphs(std::int64_t most);

}  // namespace kvplan::sglang
