// SPDX-License-Identifier: Apache-2.0
// What another attention would change for this model: memory, weights, ceiling, users.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/variants.h"
#include "plan/setup.h"

namespace kvplan {

struct AttentionRow {
  std::string variant;
  std::string_view variant_kind;  // "mha", "gqa", "mqa", "mla", "window"
  bool original = false;
  std::optional<std::int64_t> kv_heads;
  Tokens context;
  std::int64_t batch = 1;
  std::int64_t elements_per_token_per_layer = 0;
  double bytes_per_token = 0;  // while nothing is capped: a window that fills
  Bytes kv_bytes;              // of the whole batch, ideal
  double relative_to_mha = 1;  // kv_bytes
  std::int64_t kv_projection_parameters_per_layer = 0;
  std::optional<double> replication;  // bytes on all GPUs of a layout over ideal bytes
  std::optional<double> ceiling_tokens_per_second;
  std::optional<std::int64_t> max_batch;  // sequences of `context` that fit the device
};

std::vector<AttentionRow> attention_rows(const Setup&, std::span<const Load>,
                                         std::optional<LatentWidths>);

// The most KV heads with which `users` sequences of `context` tokens fit; empty where not even one
// head does.
std::optional<std::int64_t> most_kv_heads(std::span<const AttentionRow>, Tokens context,
                                          std::int64_t users);

}  // namespace kvplan
