// SPDX-License-Identifier: Apache-2.0
// What a layout stores more than once, what its GPUs send each other in a step, and what moving a
// cache would take.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plan/setup.h"

namespace kvplan {

struct StoredPart {
  std::string_view what;  // a role ("attention", "routed_expert") or a cache ("latent cache")
  Bytes once;             // that the mathematics needs
  Bytes per_gpu;          // on the fullest GPU
  Bytes all;              // on all GPUs
  double copies() const { return once.n > 0 ? all.real() / once.real() : 1; }
};
// Weights by role, then caches of the load, each sequence in one replica.
std::vector<StoredPart> stored_parts(const Setup&, const Load&);

struct Crossing {
  enum Kind { all_reduce, all_to_all, stage } kind = all_reduce;
  std::int64_t times = 0;  // per step
  Bytes bytes;             // that enter one GPU in a step of the load
  std::optional<Seconds> seconds;
  Bytes least;  // of them, what no routing and no format avoids: the ceiling counts it
};
// Sums of partial outputs (at least one row a token but the rank's own share), tokens that go to
// experts of other replicas and back when each is chosen alike, and rows that enter a pipeline
// stage; in 16 bits.
std::vector<Crossing> crossings(const Setup&, const Load&);

struct Transfer {
  enum Path { peer, host, recompute } path = peer;
  std::string link;  // "NVLink4"; empty when recomputed
  Bytes bytes;       // of each GPU, all at the same time
  Seconds seconds;   // at the link's peak, or at the ceiling of prefill
};
// The cache of one sequence of `context` tokens. Requires a device; paths without a known rate are
// left out.
std::vector<Transfer> transfers(const Setup&, Tokens context);

}  // namespace kvplan
