// SPDX-License-Identifier: Apache-2.0
// How a model is laid out over GPUs.
#pragma once
#include <cstdint>
#include <optional>

#include "model/cache.h"
#include "units.h"

namespace kvplan {

struct Parallelism {
  std::int64_t tp = 1, pp = 1, dp = 1, ep = 1, dcp = 1;  // ep divides experts over tp*dp ranks
  std::int64_t gpus() const { return checked_mul(checked_mul(tp, pp), dp); }
};

struct Deployment {
  Parallelism parallel;
  CacheFormats cache;
  Tokens source_tokens{0};  // encoder or image tokens of a request
  Tokens shared_prefix{0};  // tokens at the start that all sequences of a batch share
};

// Throws Error naming the flag where heads, experts or layers do not divide.
void validate(const ModelSpec&, const Parallelism&);

}  // namespace kvplan
