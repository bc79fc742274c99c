// SPDX-License-Identifier: Apache-2.0
// How fast one decode step can be at best. A ceiling counts distinct bytes, the fastest arithmetic,
// perfect overlap.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/deployment.h"
#include "cost/device.h"
#include "cost/stage.h"
#include "cost/trace.h"

namespace kvplan {

struct Step {
  Bytes weight_bytes;  // read by the step, all GPUs of one replica together
  Bytes kv_bytes;      // read and written by the step, likewise
  Flops flops;         // likewise
  // Slowest GPU, everything overlapped. Absent where the device's datasheet lacks what is needed.
  std::optional<Seconds> seconds;
  Bound bound = Bound::bandwidth;
  std::optional<Seconds> typical_seconds;  // experts chosen uniformly; MoE only
};

// Built once per (model, deployment, device): folds layers into a few terms. `at` allocates
// nothing.
class DecodeModel {
 public:
  // Throws Error where the deployment does not divide the model, and for encoders.
  DecodeModel(const ModelSpec&, const Deployment&, const DeviceSpec&);

  // One step of `batch` sequences that hold `context` tokens each. context >= 0, batch >= 1.
  Step at(Tokens context, std::int64_t batch, Trace* = nullptr) const;
  // Smallest batch at which arithmetic (or KV reads at this context) rather than weight reads sets
  // the step.
  std::optional<std::int64_t> crossover_batch(Tokens context) const;
  // Context at which KV reads pass weight reads for this batch.
  std::optional<Tokens> crossover_context(std::int64_t batch) const;

 private:
  BatchShare share(std::int64_t batch) const;
  StageStep slowest(Tokens context, BatchShare) const;

  std::vector<Stage> stages_;  // of one rank each
  Parallelism parallel_;
};

}  // namespace kvplan
