// SPDX-License-Identifier: Apache-2.0
// Partial results of attention become one: those of the warps of a block, and those of splits.
#pragma once
#include "kernels/cuda/decode_tiles.cuh"
#include "kernels/cuda/softmax.cuh"

namespace kvplan {

// One number of the output, merged over `count` partial results `stride` apart.
struct Merged {
  float highest = kMasked, sum = 0, value = 0;

  template <class State, class Value>
  __device__ __forceinline__ Merged(int count, State state, Value number) {
    for (int i = 0; i < count; ++i) highest = fmaxf(highest, state(i, 0));
    for (int i = 0; i < count; ++i) {
      const float factor = power_of_two(state(i, 0) - highest);
      sum += factor * state(i, 1);
      value += factor * number(i);
    }
  }
};

template <class Operand>
__device__ __forceinline__ std::uint16_t rounded(float value) {
  return static_cast<std::uint16_t>(pack<Operand>(value, 0.0f));
}

// The results of the warps, where the rings were: [warp][row][width, highest score, sum].
template <class Cache, int kWidth>
__device__ __forceinline__ void leave_result(const Lane& lane, const Softmax& softmax,
                                             const float (&out)[kWidth / 8][4]) {
  using L = DecodeLayout<Cache, kWidth>;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float* const row = reinterpret_cast<float*>(shared_memory()) +
                       (thread_index() / 32 * 16 + lane.row + half * 8) * L::kResultRow;
#pragma unroll
    for (int n = 0; n < L::kFragments; ++n)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        shared_store(row + Cache::output_column(n, lane.place, e), out[n][2 * half + e]);
    if (lane.place == 0) {
      shared_store(row + kWidth, softmax.highest[half]);
      shared_store(row + kWidth + 1, softmax.sum[half]);
    }
  }
}

// The warps' results become the block's.
template <class Cache, int kWidth>
__device__ __forceinline__ void merge_warps(const DecodeArgs& a, int group) {
  using L = DecodeLayout<Cache, kWidth>;
  const std::int64_t head =
      static_cast<std::int64_t>(block_index().z) * a.heads + block_index().y * group;
  const std::int64_t part = static_cast<std::int64_t>(block_index().x) * a.batch * a.heads + head;
  for (int i = thread_index(); i < group * kWidth; i += 32 * L::kWarps) {
    const int row = i / kWidth, column = i % kWidth;
    const float* const results =
        reinterpret_cast<const float*>(shared_memory()) + row * L::kResultRow;
    const auto at = [&](int warp, int place) {
      return shared_load(results + warp * 16 * L::kResultRow + place);
    };
    const Merged all(
        L::kWarps, [&](int warp, int which) { return at(warp, kWidth + which); },
        [&](int warp) { return at(warp, column); });
    if (a.splits == 1) {
      a.out[head * kWidth + i] =
          rounded<typename Cache::Operand>(all.value / all.sum * a.value_scale);
    } else {
      a.parts[part * kWidth + i] = all.value;
      if (column == 0) {
        a.states[2 * (part + row)] = all.highest;
        a.states[2 * (part + row) + 1] = all.sum;
      }
    }
  }
}

constexpr int kCombineThreads = 128;

// Grid (head of a sequence): the splits become one.
template <class Operand>
__global__ void __launch_bounds__(kCombineThreads) combine(const __grid_constant__ CombineArgs a) {
  if constexpr (runs_here<Operand, 0>()) {
    const std::int64_t row = block_index().x, rows = grid_size().x;
    for (int column = thread_index(); column < a.width; column += kCombineThreads) {
      const Merged all(
          a.splits,
          [&](int split, int which) { return a.states[2 * (split * rows + row) + which]; },
          [&](int split) { return a.parts[(split * rows + row) * a.width + column]; });
      a.out[row * a.width + column] = rounded<Operand>(all.value / all.sum * a.value_scale);
    }
  }
}

}  // namespace kvplan
