// SPDX-License-Identifier: Apache-2.0
// A cache group as one rank of a pipeline stage has it, and what steps and prompts ask of it.
#pragma once
#include <cstdint>
#include <string_view>

#include "cost/deployment.h"
#include "model/cache.h"
#include "model/spec.h"

namespace kvplan {

struct CacheTerm {
  CacheGroup group;                   // geometry and law, for entries at a context
  const Format* fastest = nullptr;    // narrowest format of an entry: decides the arithmetic unit
  Bytes read_per_entry;               // all reading layers of the stage
  Bytes written_per_entry;            // all owning layers of the stage; 0 where a step adds nothing
  std::int64_t tokens_per_entry = 1;  // more than 1 for compressed caches
  Bytes state;                        // held per sequence, all owning layers
  Bytes state_traffic;                // of it read and written by a step
  double state_flops = 0;             // to update and query it
  double flops_per_entry = 0;         // scores and values of one query, all reading layers
  // MLA alone: the same once latents were expanded to keys and values, and the expansion of one
  // entry.
  double expanded_flops_per_entry = 0, expansion_flops = 0;
  std::int64_t dcp = 1;  // ranks that share the entries
};

// Layers [first, end) of the model are the stage's.
CacheTerm cache_term(const CacheGroup&, const ModelSpec&, const Parallelism&, std::int64_t first,
                     std::int64_t end);

// "window cache", "index keys", "state".
std::string_view name_of_cache(CacheGroup::Kind);

struct CacheUse {
  Bytes bytes;  // each once
  double flops = 0;
};
struct Past {
  Tokens context;  // per sequence, the newest token included
  Tokens shared;   // of these, common to all sequences
  Tokens source;   // encoder or image tokens
};
// One step of `batch` sequences. Allocates nothing.
CacheUse step_use(const CacheTerm&, const Past&, std::int64_t batch);
// A prompt of `past.context` tokens in each of `batch` sequences: bytes are written.
CacheUse prompt_use(const CacheTerm&, const Past&, std::int64_t batch);

}  // namespace kvplan
