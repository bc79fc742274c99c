// SPDX-License-Identifier: Apache-2.0
// What fits: the budget of one GPU, the largest context and batch by exact inversion, the fewest
// GPUs.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "plan/setup.h"

namespace kvplan {

// The largest context that `batch` sequences can each reach in a pool, not beyond `limit`. Empty:
// not even one token.
std::optional<Tokens> largest_context(const Engine&, Bytes pool, std::int64_t batch, Tokens limit);
// The most sequences of `context` tokens that fit a pool. Empty: not even one.
std::optional<std::int64_t> largest_batch(const Engine&, Bytes pool, Tokens context);

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

// Layouts of `gpus` devices for this model, tensor parallelism first, that divide its heads and
// experts.
std::vector<Parallelism> layouts(const ModelSpec&, std::int64_t gpus);

struct FewestGpus {
  std::int64_t gpus = 1;
  Parallelism layout;
};
// The fewest of 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64 GPUs on which the load fits. Empty: not
// even on 64.
std::optional<FewestGpus> fewest_gpus(Setup, const Load&);

}  // namespace kvplan
