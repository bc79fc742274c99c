// SPDX-License-Identifier: Apache-2.0
// y[m, n] = x[m, k] · W[n, k]ᵀ for few rows of x: the weights are read once, so memory sets the
// time.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/cpu/isa.h"
#include "model/format.h"

namespace kvplan {

constexpr std::int64_t kGemvBlock = 128;  // k is a multiple of this
constexpr std::int64_t kGemvRows = 16;    // at most so many rows of x

// x in every form that a kernel may want, made before the clock starts; engines make one of them in
// the operator before. Rows are padded with zeros to 1, 2, 4 or a multiple of 8.
struct Activations {
  Activations(const std::vector<std::uint16_t>& bf16_bits, std::int64_t rows, std::int64_t k);

  std::int64_t m, padded, k;
  // Numbers from one row to the next: not a multiple of 4 KiB, or all rows fall into one cache set.
  std::int64_t stride;
  std::vector<std::uint16_t> bf16;  // [padded][stride], as given
  std::vector<float> fp32;          // the same
  // The same again to 16 bits of the largest in a row: x = step · (256 · high + low).
  std::vector<std::int8_t> high, low;
  std::vector<float> step;                // [padded]
  std::vector<std::int64_t> sum;          // [padded] Σ (256 · high + low)
  std::int64_t groups;                    // of 128 along k, rounded up to 16s
  std::vector<float> negative_group_sum;  // [padded][groups] -8 Σ over a group
};

// Whether x leaves most of the first-level cache free. Then one stream of memory is the fastest;
// else several rows of W share each load of x.
inline bool one_row_at_a_time(const Activations& x) {
  return x.padded * x.k * static_cast<std::int64_t>(sizeof(std::uint16_t)) <= 8 * kKiB;
}

// How many bytes before their use rows of W are asked for: when the rows before them begin, but
// early enough where rows are short.
inline std::int64_t fetched_ahead(std::int64_t bytes_together) {
  return std::max(bytes_together, 4 * kKiB);
}

// Rows of W that one thread owns, contiguous; their scales (if any) likewise.
struct GemvRows {
  const std::byte* weights = nullptr;
  const std::byte* scales = nullptr;
  std::int64_t rows = 0;
  const Activations* x = nullptr;
  float* y = nullptr;  // [rows][padded]
};

using GemvKernel = void (*)(const GemvRows&);

// The kernels of each step; nullptr where a step has none for a format.
GemvKernel gemv_portable(const Format&);
GemvKernel gemv_avx2(const Format&);
GemvKernel gemv_avx512(const Format&);
GemvKernel gemv_dot(const Format&);
// The best that runs at `isa`; nullptr when no kernel reads the format.
GemvKernel gemv_kernel(const Format&, Isa isa);

}  // namespace kvplan
