// SPDX-License-Identifier: Apache-2.0
// How soon the first token can come at best: exact causal flops, the head for the last position
// only.
#pragma once
#include <cstdint>
#include <optional>

#include "cost/decode.h"

namespace kvplan {

struct Prefill {
  Flops flops;            // all GPUs of one replica together
  Flops attention_flops;  // of these, scores and values
  Bytes weight_bytes;  // every weight once; MoE: every expert that prompt * batch * k choices can
                       // reach
  Bytes kv_bytes;      // written
  std::optional<Seconds> seconds;
  Bound bound = Bound::compute;
};

// `prompt` tokens per sequence, `batch` sequences, nothing cached. prompt >= 1, batch >= 1.
Prefill prefill(const ModelSpec&, const Deployment&, const DeviceSpec&, Tokens prompt,
                std::int64_t batch, Trace* = nullptr);

}  // namespace kvplan
