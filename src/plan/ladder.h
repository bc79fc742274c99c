// SPDX-License-Identifier: Apache-2.0
// The same question for a ladder of weight formats: what fits, how far, how fast.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cost/decode.h"
#include "plan/setup.h"

namespace kvplan {

struct Rung {
  std::string recipe;
  Bytes weight_bytes;                       // resident, all GPUs
  bool fits = false;                        // weights and at least one useful sequence
  std::optional<Tokens> max_context;        // one sequence
  std::optional<std::int64_t> max_batch;    // sequences of `users_context` tokens
  std::optional<double> tokens_per_second;  // ceiling for one sequence at `speed_context`
};

// `setup.model` as the reader gave it, before any recipe. Requires a device.
std::vector<Rung> ladder(const Setup& setup, std::span<const std::string_view> recipes,
                         Tokens limit, Tokens users_context, Tokens speed_context);

}  // namespace kvplan
