// SPDX-License-Identifier: Apache-2.0
// Weights folded into the terms of whoever holds them: a rank of a pipeline stage, a part of one
// machine.
#pragma once
#include <cstdint>

#include "cost/rank.h"

namespace kvplan {

class WeightFold {
 public:
  WeightFold(RankTerms& terms, const Parallelism& parallel) : terms_(terms), parallel_(parallel) {}

  void add(const Weight&, const Mixer*);
  // The token table as the head: read like a matrix, held where it is not held already.
  void add_tied_head(const Weight& table, bool held);
  // Held, and never read by a step.
  void hold(const Weight&, const Mixer*);

 private:
  Bytes bytes_on_rank(const Weight&, const Mixer*) const;
  void add_product(const Weight&, Role, std::int64_t parts, Bytes);

  RankTerms& terms_;
  const Parallelism& parallel_;
};

}  // namespace kvplan
