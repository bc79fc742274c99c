// SPDX-License-Identifier: Apache-2.0
// One rank of a pipeline stage as a few numbers, and what one decode step asks of it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "cost/device.h"
#include "cost/rank.h"
#include "cost/trace.h"

namespace kvplan {

enum class Bound { bandwidth, compute, link, host, cache };

// Sequences of a step that one data-parallel replica has, and those that meet one set of experts.
struct BatchShare {
  std::int64_t local = 1, pooled = 1;
};

// Share of `experts` that `tokens` tokens reach when each chooses `active` of them uniformly:
// 1 - (1 - k/E)^B.
double share_reached(std::int64_t experts, std::int64_t active, std::int64_t tokens);

struct StageStep {
  Bytes weights, cache;
  double flops = 0;
  Seconds memory, compute, link;
  Seconds typical_memory;  // with experts chosen uniformly
  bool cached = false;     // everything stays in the last-level cache between steps

  Seconds total() const { return std::max({memory, compute, link}); }
  Seconds typical() const { return std::max(total(), typical_memory); }
  Bound bound() const;
};

class Stage {
 public:
  Stage(const RankTerms&, const Deployment&, const DeviceSpec&);

  // The step that reads `context` tokens of each sequence, the newest included. Allocates nothing
  // unless it is to explain itself.
  StageStep step(Tokens context, BatchShare, Trace* = nullptr) const;
  bool has_experts() const { return !experts_.empty(); }
  BytesPerSecond bandwidth() const { return bandwidth_; }

 private:
  struct Experts {  // of layers that agree in count and choice
    std::int64_t count = 0, active = 0;
    Bytes bytes;  // of all experts of all these layers on this rank
  };
  struct Arithmetic {  // per token, at the fastest unit that takes the operands
    double flops = 0;
    Seconds seconds;
  };
  struct Cache {
    CacheTerm term;
    std::optional<FlopsPerSecond> peak;
  };

  void add(const Product&, const DeviceSpec&);
  void explain(const StageStep&, Tokens context, BatchShare, Trace&) const;

  Bytes dense_;      // weights that every step reads
  Bytes table_row_;  // embedding bytes per token
  std::vector<Experts> experts_;
  Arithmetic per_token_, per_pooled_token_;  // the latter in routed experts
  std::vector<Cache> caches_;
  Bytes crossing_per_token_, crossing_per_pooled_token_;

  BytesPerSecond bandwidth_;
  Bytes last_level_cache_;
  std::optional<BytesPerSecond> link_;
  Tokens prefix_, source_;
};

}  // namespace kvplan
