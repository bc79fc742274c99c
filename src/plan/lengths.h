// SPDX-License-Identifier: Apache-2.0
// What requests of given lengths hold of a cache: reserved in one piece, in blocks as they fill,
// and on average while they run.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/setup.h"

namespace kvplan {

struct RequestLength {
  std::int64_t input = 0, output = 0;  // tokens
  std::int64_t total() const { return checked_add(input, output); }
};

struct LengthSummary {
  std::int64_t requests = 0;  // at most as long as the engine accepts
  std::int64_t too_long = 0;  // that it would refuse; not in what follows
  double mean_input = 0, mean_output = 0;
  Tokens median, p90, p99, longest;  // of whole requests
  Tokens reserved;  // of one piece: the longest that the engine accepts, else the longest request
  Tokens running;   // mean length of a request that runs: each counts for its steps
};

// A way of reserving cache for these requests.
struct Reservation {
  enum Kind { contiguous, paged, running } kind = contiguous;
  std::optional<std::int64_t> block;       // tokens
  double waste = 0;                        // share of the reserved tokens that is never written
  std::optional<Bytes> bytes_per_request;  // per GPU, mean, as the engine reserves
  std::optional<std::int64_t> requests;    // at once, all replicas; absent without a device
};

struct LengthAnswer {
  LengthSummary summary;
  std::vector<Reservation> rows;
};
// `lengths` with totals >= 1, not empty. Throws Error where the engine accepts none of them.
LengthAnswer length_answer(const Setup&, std::span<const RequestLength> lengths);

}  // namespace kvplan
