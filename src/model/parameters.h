// SPDX-License-Identifier: Apache-2.0
// Counting parameters and weight bytes by role, resident and read.
#pragma once
#include <cstdint>
#include <vector>

#include "model/spec.h"

namespace kvplan {

struct Parameters {
  std::int64_t total = 0;      // main model and its towers; a tied table once
  std::int64_t active = 0;     // multiplied or looked up for one token: matrices read by a step
                               // (embedding table left out unless tied)
  std::int64_t embedding = 0;  // tables (and the head where it is a tensor of its own)
  std::int64_t attention = 0, mlp = 0, experts = 0, norms = 0, vision = 0;
  // Towers that the publisher counts apart: resident, but not in total.
  std::int64_t encoders_apart = 0;
  std::int64_t mtp = 0;            // not in total
  std::int64_t stored_copies = 0;  // elements that a file stores twice (tied head); not in total
  std::int64_t scales = 0;         // scale elements of quantised tensors; not in total
};
Parameters count_parameters(const ModelSpec&);

struct RoleBytes {
  Role role;
  std::int64_t parameters = 0;
  const Format* format = nullptr;  // the one that holds most of the role's parameters
  bool mixed = false;
  Bytes bytes;  // resident, scales included
};
std::vector<RoleBytes> weights_by_role(const ModelSpec&);
Bytes resident_weights(const ModelSpec&, bool with_mtp = false);

}  // namespace kvplan
