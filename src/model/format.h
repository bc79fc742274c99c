// SPDX-License-Identifier: Apache-2.0
// Number formats as data: how many bytes a matrix or a cache entry takes, scales included.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "units.h"

namespace kvplan {

// Which arithmetic unit may execute a matrix product with operands of this format (cost/device.h:
// Peaks).
enum class Precision { fp64, fp32, tf32, bf16, fp16, fp8, int8, fp4, int4 };

// A row of `block_elements` numbers takes `block_bytes` bytes: payload and in-block scales.
// Elements that do not fill a block take a whole one. Tensor-wide or two-dimensional scales are
// counted apart, because files store them as tensors.
struct Format {
  std::string_view name;        // canonical, e.g. "bf16", "q4_k", "fp8-block128"
  std::int32_t block_elements;  // along the contiguous axis (a matrix' input axis, a head's width)
  std::int32_t block_bytes;     // payload + scales inside the block
  std::int32_t scale_rows =
      0;  // a separate scale per tile of scale_rows x scale_columns; 0 = none,
  std::int32_t scale_columns =
      0;  //   -1 = the whole axis (per tensor: -1, -1; per output channel: 1, -1)
  std::int32_t scale_bytes = 0;   // bytes of one such scale (zero point included)
  std::int32_t tensor_bytes = 0;  // constant per tensor (NVFP4's fp32 global scale)
  std::int32_t head_bytes =
      0;  // KV only: scale bytes per head and token (int8 per token and head: 4)
  Precision precision = Precision::bf16;  // the fastest unit that can take these operands natively
  double bits = 16;                       // payload bits per element without any scale

  friend bool operator==(const Format& a, const Format& b) { return a.name == b.name; }
};

// Bytes of `rows` rows of `columns` numbers each, blocks and in-block scales. Without separate
// scales.
Bytes payload_bytes(const Format&, std::int64_t rows, std::int64_t columns);
// Bytes of the separate scale tensors of one rows x columns matrix.
Bytes scale_bytes(const Format&, std::int64_t rows, std::int64_t columns);
// Both together.
Bytes stored_bytes(const Format&, std::int64_t rows, std::int64_t columns);
// Bytes of `heads` cache rows of `width` numbers each, per-head scales included.
Bytes cache_row_bytes(const Format&, std::int64_t heads, std::int64_t width);

// All known formats, canonical names only, in order of their width.
std::span<const Format> formats();
// By canonical name or alias ("float16", "F16", "half" are "fp16"); case and '-' '_' do not matter.
// nullptr if unknown.
const Format* find_format(std::string_view name);
// As above; throws Error with the nearest name as advice.
const Format& format_named(std::string_view name);

}  // namespace kvplan
