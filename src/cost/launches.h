// SPDX-License-Identifier: Apache-2.0
// The kernels that a decode step or a prompt asks of one GPU, as shapes whose times can be
// predicted. Matrices of a layer that meet the same input run as one (q, k and v; gate and up), as
// engines run them. Of pipeline stages: one after the other, and the sends between them. Norms,
// rotations, samplers and gaps between kernels are left out.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "cost/deployment.h"
#include "cost/shape.h"
#include "model/spec.h"

namespace kvplan {

struct Launch {
  Shape shape;
  std::int64_t count = 1;
};
struct Launches {
  std::vector<Launch> all;
  std::string_view missing;  // work that no shape describes: "a recurrent state"; empty: none
};

// One step of `batch` sequences that hold `context` tokens each.
Launches decode_launches(const ModelSpec&, const Deployment&, Tokens context, std::int64_t batch);
// `prompt` tokens in each of `batch` sequences, in one pass.
Launches prefill_launches(const ModelSpec&, const Deployment&, Tokens prompt, std::int64_t batch);

// A pass of some tokens of one prompt, after others that passed before; the last makes logits.
struct PromptPass {
  std::int64_t tokens = 1, past = 0;
  bool last = true;
};
Launches pass_launches(const ModelSpec&, const Deployment&, const PromptPass&);

}  // namespace kvplan
