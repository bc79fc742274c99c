// SPDX-License-Identifier: Apache-2.0
// Decode and prefill rates by load: the ceiling and what goes with it.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cost/decode.h"
#include "cost/expected.h"
#include "cost/prefill.h"
#include "plan/setup.h"

namespace kvplan {

struct DecodeRow {
  Tokens context;
  std::int64_t batch = 1;
  bool fits = false;  // weights and this cache fit the memory, by the engine's own account
  Step step;
  Expected expected;                             // of one step
  std::optional<double> usd_per_million_tokens;  // at the ceiling, where a price is known
};
struct DecodeAnswer {
  std::optional<std::int64_t> crossover_batch;  // at the first row's context
  std::optional<Tokens> crossover_context;      // at the first row's batch
  std::vector<DecodeRow> rows;
};
// Requires a device. The first load is explained where asked.
DecodeAnswer decode_answer(const Setup&, std::span<const Load> loads, Trace* first = nullptr);

struct PrefillRow {
  Tokens prompt;
  std::int64_t batch = 1;
  Prefill prefill;
  Expected expected;
};
// Requires a device. A load's context is the prompt.
std::vector<PrefillRow> prefill_answer(const Setup&, std::span<const Load> loads,
                                       Trace* first = nullptr);

// Tokens per second of a step that yields one token for each of `batch` sequences.
inline double tokens_per_second(std::int64_t batch, Seconds step) {
  return static_cast<double>(batch) / step.v;
}

}  // namespace kvplan
