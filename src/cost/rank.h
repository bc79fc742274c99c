// SPDX-License-Identifier: Apache-2.0
// One GPU's share of a model: what a rank of a pipeline stage holds, reads and multiplies, folded
// into a few terms.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/deployment.h"
#include "model/spec.h"

namespace kvplan {

// Multiplications with weights of one format: flops per token on one rank.
struct ProductTerm {
  const Format* format = nullptr;
  double flops_per_token = 0;
};

// Routed experts of layers that agree in count and choice.
struct ExpertTerm {
  std::int64_t experts = 0, active = 0;
  Bytes bytes;  // of all experts of all these layers on this rank
};

// One cache group on this rank.
struct CacheTerm {
  CacheGroup group;         // geometry and law, for entries at a context
  Bytes read_per_entry;     // all reading layers of the stage
  Bytes written_per_entry;  // all owning layers of the stage
  std::int64_t tokens_per_entry = 1;
  Bytes state;                 // read and written by each step, all layers
  double flops_per_entry = 0;  // scores and values for one query, all reading layers
  std::int64_t dcp = 1;        // ranks that share the tokens
};

struct RankTerms {
  Bytes resident;  // weights held
  Bytes dense;     // weights read by every step, experts and tables left out
  Bytes head;      // of these, the output projection (prefill needs it once per sequence)
  double head_flops_per_token = 0;  // likewise
  Bytes table_row;                  // embedding bytes looked up per token
  std::vector<ExpertTerm> experts;
  std::vector<ProductTerm> products;  // head left out
  const Format* head_format = nullptr;
  std::vector<CacheTerm> caches;
  Bytes crossing_per_token;  // that must leave or enter this GPU per token, per direction
};

// Rank terms of each pipeline stage (every rank of a stage is alike). Throws Error where a
// deployment does not divide.
std::vector<RankTerms> rank_terms(const ModelSpec&, const Deployment&);

// Weights held by the fullest GPU; experts divide over max(tp, ep) ranks.
Bytes resident_on_fullest_gpu(const ModelSpec&, const Parallelism&);

}  // namespace kvplan
