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

// Separate scales: one of `bytes` bytes per tile of rows x columns, and `zero_bits` of packed zero
// point beside it. Files store them as tensors of their own. rows = 0: none; -1: the whole axis.
struct Scales {
  std::int32_t rows = 0, columns = 0;
  std::int32_t bytes = 0;
  std::int32_t zero_bits = 0;
};

// A row of `block_elements` numbers takes `block_bytes` bytes: payload and in-block scales.
// Elements that do not fill a block take a whole one.
struct Format {
  std::string_view name;            // canonical, e.g. "bf16", "q4_k", "fp8-block128"
  std::int32_t block_elements = 1;  // along the contiguous axis (a matrix' inputs, a head's width)
  std::int32_t block_bytes = 0;     // payload + scales inside the block
  Precision precision;              // the fastest unit that takes these operands natively
  double bits = 16;                 // payload bits per element without any scale
  Scales scales = {};               // of matrices
  std::int32_t tensor_bytes = 0;    // constant per matrix (NVFP4's fp32 global scale)
  std::int32_t head_bytes = 0;      // of caches: scale bytes per head and token
  std::int32_t mean_millibits =
      0;  // of a mix known by its average: bits of 1,000 elements; 0: none

  friend bool operator==(const Format& a, const Format& b) { return a.name == b.name; }
};

// Bytes of `rows` rows of `columns` numbers each, blocks and in-block scales; no separate scales.
Bytes payload_bytes(const Format&, std::int64_t rows, std::int64_t columns);
// Bytes of the separate scale and zero-point tensors of one rows x columns matrix.
Bytes scale_bytes(const Format&, std::int64_t rows, std::int64_t columns);
// Separate scales of one rows x columns matrix, zero points and tensor-wide ones not counted.
std::int64_t scale_count(const Format&, std::int64_t rows, std::int64_t columns);
// Both together.
Bytes stored_bytes(const Format&, std::int64_t rows, std::int64_t columns);
// Bytes of `heads` cache rows of `width` numbers each, per-head scales included.
Bytes cache_row_bytes(const Format&, std::int64_t heads, std::int64_t width);

// All known formats, canonical names only, by family.
std::span<const Format> formats();
// By canonical name or alias ("float16", "F16", "half" are "fp16"); case and '-' '_' do not matter.
// nullptr if unknown.
const Format* find_format(std::string_view name);
// As above; throws Error with the nearest names as advice.
const Format& format_named(std::string_view name);

}  // namespace kvplan
