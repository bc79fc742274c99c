// SPDX-License-Identifier: Apache-2.0
// How a model is laid out over GPUs.
#pragma once
#include <cstdint>
#include <utility>

#include "model/cache.h"
#include "units.h"

namespace kvplan {

struct Parallelism {
  std::int64_t tp = 1, pp = 1, dp = 1, ep = 1, dcp = 1;  // ep divides experts over tp*dp ranks
  friend bool operator==(const Parallelism&, const Parallelism&) = default;

  std::int64_t gpus() const { return checked_mul(checked_mul(tp, pp), dp); }
  // Ranks that share one set of experts, and of `batch` sequences those that meet this set.
  std::int64_t expert_ranks() const { return tp > ep ? tp : ep; }
  std::int64_t pooled(std::int64_t batch) const {
    return ceil_div(checked_mul(batch, expert_ranks()), checked_mul(tp, dp));
  }
};

struct Deployment {
  Parallelism parallel;
  CacheFormats cache = cache_formats("bf16");
  Tokens source_tokens{0};  // encoder or image tokens of a request
  Tokens shared_prefix{0};  // tokens at the start that all sequences of a batch share
};

// [first, end) of the main layers that a pipeline stage holds: as equal as possible, and where they
// do not divide, one more on the last stages but the very last, which also has the head (vLLM's
// rule).
std::pair<std::int64_t, std::int64_t> stage_layers(std::int64_t layers, std::int64_t stages,
                                                   std::int64_t stage);

// Throws Error naming the flag where heads, experts or layers do not divide.
void validate(const ModelSpec&, const Parallelism&);

}  // namespace kvplan
