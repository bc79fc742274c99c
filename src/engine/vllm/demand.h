// SPDX-License-Identifier: Apache-2.0
// Pages that one request takes from the shared pool, and what a pool of pages can therefore hold.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/vllm/rules.h"
#include "units.h"

namespace kvplan::vllm {

struct Demand {
  enum Law { full, window, chunk, source, fixed } law = full;
  std::int64_t block = 1;      // tokens of a page
  std::int64_t size = 0;       // tokens of the window, chunk or source; pages where fixed
  std::int64_t in_flight = 0;  // tokens that a window or chunk holds beside itself
  std::int64_t shards = 1;     // context-parallel ranks that share the tokens
  std::int64_t extra = 0;      // pages beside those of the tokens

  friend bool operator==(const Demand&, const Demand&) = default;
};
std::int64_t pages_of(const Demand&, std::int64_t context);

struct Layout {
  struct Row {
    Demand demand;
    std::int64_t groups = 1;  // block tables with this demand
    std::int64_t weight = 1;  // what their pages count against `divisor`
  };
  std::vector<Row> rows;
  std::int64_t divisor = 1;
  std::int64_t block_tokens = 0;    // that the engine prints
  std::int64_t shards = 1;          // likewise
  Bytes bytes_per_block;            // on the fullest pipeline stage
  Bytes checked_bytes_per_block;    // that the start-up check uses
  std::vector<Bytes> stage_blocks;  // bytes of a block on each pipeline stage
  std::int64_t padding_layers = 0;

  std::int64_t groups() const;
  // Blocks that the engine charges to one request of `context` tokens.
  std::int64_t blocks_of_request(std::int64_t context) const;
  // Pages that it takes from the pool at most.
  std::int64_t pages_of_request(std::int64_t context) const;
};

// Longest request, at most `limit` tokens, that passes the start-up check. Empty: none.
std::optional<Tokens> longest_request(const Layout&, const Rules&, Bytes pool, Tokens limit);

}  // namespace kvplan::vllm
