// SPDX-License-Identifier: Apache-2.0
// The list of kernels that launches.h gives, while it is made.
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>

#include "cost/deployment.h"
#include "cost/launches.h"
#include "model/cache.h"

namespace kvplan {

// What passes the layers of one GPU at once.
struct Pass {
  std::int64_t tokens = 1;  // rows of each product
  std::int64_t pooled = 1;  // of all GPUs that share a set of experts
  std::int64_t sequences = 1;
  Tokens context;  // per sequence, the newest token included; of a prompt its tokens in this pass
  bool decode = true;
  std::int64_t past = 0;  // tokens of a prompt that passed before
  bool logits = true;     // of the newest token of each sequence
};

class LaunchList {
 public:
  // The same shape again counts with the first.
  void add(const Shape&, std::int64_t count = 1);
  // What no launch of this list stands for; the first one is told.
  void miss(std::string_view what);
  Launches take() { return std::move(found_); }

 private:
  Launches found_;
};

// Of so many numbers of 16 bits from each rank.
CollectiveShape gathered(std::int64_t ranks, std::int64_t numbers);

// Latent attention with an indexer was measured as a whole, its products with weights included.
bool is_module(const Layer&);

// What reads a group of caches and writes to it: attention, recurrences, whole modules.
void add_cache_launches(const ModelSpec&, const Deployment&, const Pass&, const CacheGroup&,
                        LaunchList&);

}  // namespace kvplan
