// SPDX-License-Identifier: Apache-2.0
// Stored weights as left operands of mma.m16n8k16. A lane takes 16 bytes of a row at a time; the
// order of columns that this gives is the order in which it takes x, so that no byte moves between
// lanes.
#pragma once
#include "kernels/cuda/fragments.cuh"

namespace kvplan {

// Of a step, in which the four lanes of a row read 64 bytes: the numbers of a lane, as words of two
// operands, in pairs (first and second half in depth).
template <class Number>
struct Weights16 {
  using Operand = Number;
  static constexpr int kPerChunk = 8, kGroup = 0;
  static constexpr bool kRowScales = false;
  static constexpr float kFactor = 1.0f;
  static constexpr int kProducts = 2;  // of depth 16 in a step

  __device__ static void pair(const Chunk& c, int product, std::uint32_t& low,
                              std::uint32_t& high) {
    low = c.word[2 * product];
    high = c.word[2 * product + 1];
  }
  // Where chunk i of the lane's part of x begins, from the start of the step.
  __device__ static int x_column(int place, int) { return 8 * place; }
};

template <class Convert, bool kScaled>
struct Weights8 {
  using Operand = Fp16;
  static constexpr int kPerChunk = 16, kGroup = 0;
  static constexpr bool kRowScales = kScaled;
  static constexpr float kFactor = Convert::kFactor;
  static constexpr int kProducts = 4;

  __device__ static void pair(const Chunk& c, int product, std::uint32_t& low,
                              std::uint32_t& high) {
    Convert::neighbours(c.word[product], low, high);
  }
  __device__ static int x_column(int place, int i) { return 16 * place + 8 * i; }
};

// Byte j of a group's 64 holds number j and, above it, number 64 + j, each plus 8. In the mantissa
// of 1024 that is the number 1032 too large.
struct WeightsInt4 {
  using Operand = Fp16;
  static constexpr int kPerChunk = 32, kGroup = 128;
  static constexpr bool kRowScales = false;
  static constexpr float kFactor = 1.0f;
  static constexpr int kProducts = 8;

  __device__ static void pair(const Chunk& c, int product, std::uint32_t& low,
                              std::uint32_t& high) {
    constexpr std::uint32_t kBase = 0x64646464u, kOffset = 0x64086408u;
    const std::uint32_t four = c.word[product % 4] >> product / 4 * 4 & 0x0f0f0f0fu;
    low = subtract_halves(pick_bytes(four, kBase, 0x4140), kOffset);
    high = subtract_halves(pick_bytes(four, kBase, 0x4342), kOffset);
  }
  __device__ static int x_column(int place, int i) { return i / 2 * 64 + 16 * place + 8 * (i % 2); }
};

using WeightsFp8 = Weights8<ConvertFp8, false>;
using WeightsInt8 = Weights8<ConvertInt8, true>;

}  // namespace kvplan
