// SPDX-License-Identifier: Apache-2.0
// One GPU's share of a model: what a rank of a pipeline stage holds, reads and multiplies, folded
// into a few terms.
#pragma once
#include <cstdint>
#include <vector>

#include "cost/cache_term.h"
#include "cost/deployment.h"
#include "model/spec.h"

namespace kvplan {

// Equal matrices of one stage, as one rank has them.
struct Product {
  Role role = Role::mlp;
  const Format* format = nullptr;
  std::int64_t rows = 0, columns = 0;    // of one matrix on this rank: outputs, inputs
  std::int64_t count = 1;                // such matrices in the stage, experts counted once
  std::int64_t experts = 1, active = 1;  // copies of each, of which a token meets `active`
  Bytes bytes;                           // of all of them, experts too
  double flops_per_token = 0;            // of all that one token meets
};

struct RankTerms {
  Bytes resident;   // weights held
  Bytes vectors;    // norms, biases and the like, read by every step
  Bytes tables;     // embedding tables
  Bytes table_row;  // of these looked up per token
  std::vector<Product> products;
  std::vector<CacheTerm> caches;
  double mutual_flops_per_pair = 0;  // of layers whose tokens all see each other: scores, values
  std::int64_t layers = 0;
  std::int64_t reductions = 0;  // partial sums that the ranks of a stage must add up per token
  std::int64_t visits = 0;      // ranks that a token's experts lie on at least, where several
  // That must enter this GPU (and leave it likewise) per token of its replica for these sums, and
  // per token that meets its experts, on average over the GPUs that have them, for sums and visits.
  Bytes crossing_per_token, crossing_per_pooled_token;
};

// Rank terms of each pipeline stage (every rank of a stage is alike). Throws Error where a
// deployment does not divide.
std::vector<RankTerms> rank_terms(const ModelSpec&, const Deployment&);

// Weights held by the fullest GPU; experts divide over max(tp, ep) ranks.
Bytes resident_on_fullest_gpu(const ModelSpec&, const Parallelism&);

}  // namespace kvplan
