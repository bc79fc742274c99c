// SPDX-License-Identifier: Apache-2.0
// Stored keys and values as operands of mma.m16n8k16, 16 tokens at a time. A row lies in shared
// memory as chunks of 16 bytes; 8-bit numbers become fp16 between shared memory and the tensor
// core.
#pragma once
#include "kernels/cuda/port.cuh"

namespace kvplan {

// Where chunk `chunk` of row `row` lies in a tile of rows of kChunks: eight rows of one chunk fall
// into different banks, whatever the length of a row.
template <int kChunks>
__device__ __forceinline__ int swizzled(int row, int chunk) {
  constexpr int kSpan = kChunks % 8 == 0 ? 8 : kChunks % 4 == 0 ? 4 : kChunks % 2 == 0 ? 2 : 1;
  return row * kChunks + (chunk ^ (row / (8 / kSpan) % kSpan));
}

// How a lane stands in a fragment: row (and row + 8) of a, columns 2 · place and 2 · place + 1 of
// c.
struct Lane {
  int index, row, place;
};
__device__ __forceinline__ Lane lane_of_thread() {
  const int i = thread_index() % 32;
  return {i, i / 4, i % 4};
}

// Two chunks of 16 keys (not transposed) or of 16 values (transposed).
template <int kChunks>
__device__ __forceinline__ void load_keys(std::uint32_t (&r)[4], const Chunk* tile, int pair,
                                          int lane) {
  load_matrices<false>(r,
                       tile + swizzled<kChunks>(lane % 8 + lane / 16 * 8, 2 * pair + lane / 8 % 2));
}
template <int kChunks>
__device__ __forceinline__ void load_values(std::uint32_t (&r)[4], const Chunk* tile, int pair,
                                            int lane) {
  load_matrices<true>(r, tile + swizzled<kChunks>(lane % 16, 2 * pair + lane / 16));
}

// Numbers of 16 bits. A pair of chunks is one step of 16 in depth for keys, two columns of 8 for
// values.
template <class Number>
struct Stored16 {
  using Operand = Number;
  static constexpr int kPerChunk = 8;
  static constexpr float kFactor = 1.0f;  // by which a number is larger than its operand
  static constexpr bool kScaledPerToken = false;

  // The column of a query that a lane holds in register r of step `step`, and the one after it.
  __device__ static int query_column(int step, int place, int r) {
    return 16 * step + 2 * place + r / 2 * 8;
  }
  // The column of the output that a lane holds in element e of fragment n.
  __device__ static int output_column(int n, int place, int e) { return 8 * n + 2 * place + e; }

  // Scores of 16 tokens += queries · keys, for steps given by `query`.
  template <class Query>
  __device__ static void add_scores(float (&scores)[2][4], int pair, const std::uint32_t (&r)[4],
                                    Query query) {
    std::uint32_t q[4];
    query(q, pair);
    multiply<Operand>(scores[0], q, r[0], r[1]);
    multiply<Operand>(scores[1], q, r[2], r[3]);
  }
  // Output += weights · values.
  template <int kFragments>
  __device__ static void add_values(float (&out)[kFragments][4], int pair,
                                    const std::uint32_t (&weights)[4],
                                    const std::uint32_t (&r)[4]) {
    multiply<Operand>(out[2 * pair], weights, r[0], r[1]);
    multiply<Operand>(out[2 * pair + 1], weights, r[2], r[3]);
  }
};

// Numbers of 8 bits, by `Convert`: a word of four to two words of two fp16 numbers. The order of
// columns follows what a lane gets from a 16-byte chunk: queries and outputs are permuted alike.
template <class Convert, bool kScaled>
struct Stored8 {
  using Operand = Fp16;
  static constexpr int kPerChunk = 16;
  static constexpr float kFactor = Convert::kFactor;
  static constexpr bool kScaledPerToken = kScaled;

  __device__ static int query_column(int step, int place, int r) {
    return 16 * step + 4 * place + r / 2 * 2;
  }
  __device__ static int output_column(int n, int place, int e) {
    return n / 2 * 16 + 4 * place + 2 * e + n % 2;
  }

  template <class Query>
  __device__ static void add_scores(float (&scores)[2][4], int pair, const std::uint32_t (&r)[4],
                                    Query query) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      std::uint32_t q[4];
      query(q, 2 * pair + half);
#pragma unroll
      for (int tokens = 0; tokens < 2; ++tokens) {
        std::uint32_t low, high;
        Convert::neighbours(r[2 * tokens + half], low, high);
        multiply<Operand>(scores[tokens], q, low, high);
      }
    }
  }
  template <int kFragments>
  __device__ static void add_values(float (&out)[kFragments][4], int pair,
                                    const std::uint32_t (&weights)[4],
                                    const std::uint32_t (&r)[4]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      std::uint32_t even[2], odd[2];  // columns, of tokens 0-7 and 8-15
#pragma unroll
      for (int tokens = 0; tokens < 2; ++tokens)
        Convert::alternate(r[2 * half + tokens], even[tokens], odd[tokens]);
      multiply<Operand>(out[4 * pair + 2 * half], weights, even[0], even[1]);
      multiply<Operand>(out[4 * pair + 2 * half + 1], weights, odd[0], odd[1]);
    }
  }
};

// FP8 E4M3 is fp16 with a shorter exponent: moved to its place, it is the number times 2^-8.
struct ConvertFp8 {
  static constexpr float kFactor = 256.0f;

  // Bytes in the upper halves of 16 bits → fp16.
  __device__ static std::uint32_t shifted(std::uint32_t upper) {
    return (upper & 0x80008000u) | (upper & 0x7f007f00u) >> 1;
  }
  // Numbers 0, 1 and 2, 3.
  __device__ static void neighbours(std::uint32_t four, std::uint32_t& low, std::uint32_t& high) {
    low = shifted(pick_bytes(four, 0, 0x1404));
    high = shifted(pick_bytes(four, 0, 0x3424));
  }
  // Numbers 0, 2 and 1, 3.
  __device__ static void alternate(std::uint32_t four, std::uint32_t& even, std::uint32_t& odd) {
    even = shifted(four << 8);
    odd = shifted(four);
  }
};

// A byte b plus 128 in the mantissa of 1024 is the number 1024 + 128 + b, exactly.
struct ConvertInt8 {
  static constexpr float kFactor = 1.0f;
  static constexpr std::uint32_t kBase = 0x64646464u, kOffset = 0x64806480u;  // 1024, 1024 + 128

  __device__ static void neighbours(std::uint32_t four, std::uint32_t& low, std::uint32_t& high) {
    const std::uint32_t biased = four ^ 0x80808080u;
    low = subtract_halves(pick_bytes(biased, kBase, 0x4140), kOffset);
    high = subtract_halves(pick_bytes(biased, kBase, 0x4342), kOffset);
  }
  __device__ static void alternate(std::uint32_t four, std::uint32_t& even, std::uint32_t& odd) {
    const std::uint32_t biased = four ^ 0x80808080u;
    even = subtract_halves(pick_bytes(biased, kBase, 0x4240), kOffset);
    odd = subtract_halves(pick_bytes(biased, kBase, 0x4341), kOffset);
  }
};

using CacheFp16 = Stored16<Fp16>;
using CacheBf16 = Stored16<Bf16>;
using CacheFp8 = Stored8<ConvertFp8, false>;
using CacheInt8 = Stored8<ConvertInt8, true>;

}  // namespace kvplan
