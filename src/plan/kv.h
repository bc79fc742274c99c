// SPDX-License-Identifier: Apache-2.0
// The cache by group and by context x batch: what the mathematics needs beside what the engine
// reserves.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cost/trace.h"
#include "plan/setup.h"

namespace kvplan {

struct GroupRow {
  std::string_view kind;              // "full", "window", …
  std::int64_t layers = 0;            // that own such a cache
  std::int64_t readers = 0;           // that read it; more than layers where caches are shared
  double bytes_per_token = 0;         // whole group, unsharded, while nothing is capped
  std::optional<Tokens> window;       // window and chunk
  std::optional<std::int64_t> ratio;  // compressed: tokens per entry
  std::optional<std::int64_t> read_limit;
  std::optional<Bytes> bytes_per_sequence;  // fixed part: state, full window, source tokens
};

struct KvRow {
  Tokens context;
  std::int64_t batch = 1;
  Bytes bytes;                // reserved by the engine, all GPUs of one replica
  Bytes bytes_per_gpu;        // on the fullest GPU
  Bytes ideal_bytes;          // that the mathematics needs, replicated copies once
  Bytes read_bytes_per_step;  // by one decode step, replicated copies once
};

struct KvAnswer {
  double bytes_per_token = 0;          // growth of one sequence at long context
  double bytes_per_token_per_gpu = 0;  // likewise on the fullest GPU
  Bytes bytes_per_sequence;            // fixed part, windows full
  std::vector<GroupRow> groups;
  std::vector<KvRow> rows;
};

// The first load is explained where asked.
KvAnswer kv_answer(const Setup&, std::span<const Load> loads, Trace* first = nullptr);

}  // namespace kvplan
