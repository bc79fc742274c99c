// SPDX-License-Identifier: Apache-2.0
#include "model/format.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace kvplan {
namespace {

using enum Precision;

// Layouts of GGUF blocks: ggml's type table (ggml/src/ggml-common.h: block sizes in bytes are the
// sums of their fields). fp8 block scales: DeepSeek-V3 report, section 3.3.2 (128 x 128 tiles, fp32
// scale). NVFP4 and MXFP4: 1 scale per 16 / 32 (OCP Microscaling v1.0; NVIDIA NVFP4). Group
// formats: 16-bit scale and a packed zero point of the same width per group.
constexpr std::array kFormats = {
    //     name              elements bytes  rows cols scale tensor head  unit  bits
    Format{"fp64", 1, 8, 0, 0, 0, 0, 0, fp64, 64},
    Format{"fp32", 1, 4, 0, 0, 0, 0, 0, fp32, 32},
    Format{"bf16", 1, 2, 0, 0, 0, 0, 0, bf16, 16},
    Format{"fp16", 1, 2, 0, 0, 0, 0, 0, fp16, 16},
    Format{"fp8", 1, 1, 0, 0, 0, 0, 0, fp8, 8},
    Format{"int8", 1, 1, 0, 0, 0, 0, 0, int8, 8},
    Format{"fp4", 2, 1, 0, 0, 0, 0, 0, fp4, 4},
    Format{"int4", 2, 1, 0, 0, 0, 0, 0, int4, 4},
    Format{"fp8-block128", 1, 1, 128, 128, 4, 0, 0, fp8, 8},
    Format{"fp8-channel", 1, 1, 1, -1, 4, 0, 0, fp8, 8},
    Format{"fp8-tensor", 1, 1, -1, -1, 4, 0, 0, fp8, 8},
    Format{"int8-channel", 1, 1, 1, -1, 4, 0, 0, int8, 8},
    Format{"int8-g128", 1, 1, 1, 128, 2, 0, 0, int8, 8},
    Format{"int4-g128", 2, 1, 1, 128, 2, 0, 0, int4, 4},
    Format{"int4-g64", 2, 1, 1, 64, 2, 0, 0, int4, 4},
    Format{"int4-g32", 2, 1, 1, 32, 2, 0, 0, int4, 4},
    Format{"mxfp4", 32, 17, 0, 0, 0, 0, 0, fp4, 4},
    Format{"nvfp4", 16, 9, 0, 0, 0, 4, 0, fp4, 4},
    Format{"q8_0", 32, 34, 0, 0, 0, 0, 0, int8, 8},
    Format{"q4_0", 32, 18, 0, 0, 0, 0, 0, int4, 4},
};

std::string folded(std::string_view name) {
  std::string out;
  for (char c : name)
    if (c != '-' && c != '_') out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace

Bytes payload_bytes(const Format& f, std::int64_t rows, std::int64_t columns) {
  return Bytes(checked_mul(rows, checked_mul(ceil_div(columns, f.block_elements), f.block_bytes)));
}

Bytes scale_bytes(const Format& f, std::int64_t rows, std::int64_t columns) {
  if (f.scale_bytes == 0) return Bytes(f.tensor_bytes);
  const std::int64_t down = f.scale_rows < 0 ? 1 : ceil_div(rows, f.scale_rows);
  const std::int64_t across = f.scale_columns < 0 ? 1 : ceil_div(columns, f.scale_columns);
  return Bytes(checked_add(checked_mul(checked_mul(down, across), f.scale_bytes), f.tensor_bytes));
}

Bytes stored_bytes(const Format& f, std::int64_t rows, std::int64_t columns) {
  return payload_bytes(f, rows, columns) + scale_bytes(f, rows, columns);
}

Bytes cache_row_bytes(const Format& f, std::int64_t heads, std::int64_t width) {
  return payload_bytes(f, heads, width) + Bytes(checked_mul(heads, f.head_bytes));
}

std::span<const Format> formats() { return kFormats; }

const Format* find_format(std::string_view name) {
  const std::string wanted = folded(name);
  for (const Format& f : kFormats)
    if (folded(f.name) == wanted) return &f;
  return nullptr;
}

const Format& format_named(std::string_view name) {
  if (const Format* f = find_format(name)) return *f;
  throw Error("unknown number format '" + std::string(name) + "'");
}

}  // namespace kvplan
