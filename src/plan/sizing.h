// SPDX-License-Identifier: Apache-2.0
// What fits: the budget of one GPU, the largest context and batch.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/setup.h"

namespace kvplan {

struct Sizing {
  std::optional<Budget> budget;  // absent where the pool was given
  Bytes pool;  // for the cache, per GPU; negative when the weights alone are too large
  Capacity capacity;
  std::optional<Tokens> max_context;      // one sequence, at most what the model was made for
  std::optional<std::int64_t> max_batch;  // sequences of the asked (or of `usual`) context
  bool fits = false;                      // the asked load, or one sequence of 2,048 tokens
};
// Requires a device, or EngineOptions::kv_pool. `limit` is the model's own longest context.
Sizing sizing(const Setup&, const std::optional<Load>& asked, Tokens usual, Tokens limit);

}  // namespace kvplan
