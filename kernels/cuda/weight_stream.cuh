// SPDX-License-Identifier: Apache-2.0
// Products with few rows of x: memory sets the time, so weights go straight to registers, many
// loads in flight, and each byte is read once. The warps of a block share its rows and split their
// depth.
#pragma once
#include "kernels/cuda/args.h"
#include "kernels/cuda/weights.cuh"

namespace kvplan {

constexpr int kStreamWarps = 8;

// kTiles: of 16 rows of W in a block. kColumns: of 8 rows of x.
template <class Weights, int kTiles, int kColumns>
struct WeightStream {
  static constexpr int kRows = 16 * kTiles;
  static constexpr int kDepth = 4 * Weights::kPerChunk;  // of a step
  static constexpr int kXChunks = Weights::kPerChunk / 8;
  static constexpr int kSteps = 4 / kTiles;  // whose loads are in flight together
  static constexpr int kResult = kRows * 8 * kColumns;
  static constexpr int kSharedBytes = kStreamWarps * kResult * 4;

  const WeightStreamArgs& a;
  Lane lane = lane_of_thread();
  int warp = thread_index() / 32;
  int first = static_cast<int>(block_index().x) * kRows;
  float sum[kTiles][kColumns][4] = {};

  __device__ explicit WeightStream(const WeightStreamArgs& args) : a(args) {}

  __device__ int row(int tile, int half) const { return first + tile * 16 + half * 8 + lane.row; }

  __device__ void load(Chunk (&w)[kTiles][2], int step) const {
    const std::int64_t row_bytes =
        static_cast<std::int64_t>(a.k) / Weights::kPerChunk * kChunkBytes;
    const std::int64_t column = (static_cast<std::int64_t>(step) * 4 + lane.place) * kChunkBytes;
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int r = row(tile, half);
        const bool valid = r < a.n && step * kDepth < a.k;
        w[tile][half] = valid ? load_stream(a.weights + r * row_bytes + column) : Chunk{};
      }
  }

  // x of the step, for the rows of x that a lane brings; zeros where there are none.
  __device__ void load_x(Chunk (&x)[kColumns][kXChunks], int step) const {
#pragma unroll
    for (int column = 0; column < kColumns; ++column)
#pragma unroll
      for (int i = 0; i < kXChunks; ++i) {
        const int m = column * 8 + lane.row;
        const std::int64_t at =
            static_cast<std::int64_t>(m) * a.k + step * kDepth + Weights::x_column(lane.place, i);
        x[column][i] = m < a.m ? *reinterpret_cast<const Chunk*>(a.x + at) : Chunk{};
      }
  }

  __device__ float group_scale(int tile, int half, int step) const {
    const int groups = a.k / Weights::kGroup, r = row(tile, half);
    const auto* scales = reinterpret_cast<const std::uint16_t*>(a.scales);
    return r < a.n ? half_to_float(scales[static_cast<std::int64_t>(r) * groups + step]) : 0.0f;
  }

  __device__ void add(const Chunk (&w)[kTiles][2], int step) {
    if (step * kDepth >= a.k) return;
    Chunk x[kColumns][kXChunks];
    load_x(x, step);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
      float part[kColumns][4] = {};
#pragma unroll
      for (int product = 0; product < Weights::kProducts; ++product) {
        std::uint32_t left[4];
        Weights::pair(w[tile][0], product, left[0], left[2]);
        Weights::pair(w[tile][1], product, left[1], left[3]);
#pragma unroll
        for (int column = 0; column < kColumns; ++column) {
          const Chunk& right = x[column][product / 2];
          multiply<typename Weights::Operand>(Weights::kGroup ? part[column] : sum[tile][column],
                                              left, right.word[product % 2 * 2],
                                              right.word[product % 2 * 2 + 1]);
        }
      }
      if constexpr (Weights::kGroup > 0) {
        const float scales[2] = {group_scale(tile, 0, step), group_scale(tile, 1, step)};
#pragma unroll
        for (int column = 0; column < kColumns; ++column)
#pragma unroll
          for (int e = 0; e < 4; ++e) sum[tile][column][e] += scales[e / 2] * part[column][e];
      }
    }
  }

  __device__ void run() {
    const int steps = a.k / kDepth;
    for (int step = warp * kSteps; step < steps; step += kStreamWarps * kSteps) {
      Chunk w[kSteps][kTiles][2];
#pragma unroll
      for (int i = 0; i < kSteps; ++i) load(w[i], step + i);
#pragma unroll
      for (int i = 0; i < kSteps; ++i) add(w[i], step + i);
    }
  }

  // The sums of all warps: [row of W][row of x].
  __device__ void reduce() const {
    auto* const results = reinterpret_cast<float*>(shared_memory());
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
      for (int column = 0; column < kColumns; ++column)
#pragma unroll
        for (int e = 0; e < 4; ++e)
          shared_store(results + warp * kResult +
                           (tile * 16 + e / 2 * 8 + lane.row) * 8 * kColumns + column * 8 +
                           2 * lane.place + e % 2,
                       sum[tile][column][e]);
    block_barrier();
    for (int i = thread_index(); i < kResult; i += 32 * kStreamWarps) {
      const int r = first + i % kRows, m = i / kRows;
      if (r >= a.n || m >= a.m) continue;
      float total = 0;
      for (int w = 0; w < kStreamWarps; ++w)
        total += shared_load(results + w * kResult + i % kRows * 8 * kColumns + m);
      if constexpr (Weights::kRowScales) total *= reinterpret_cast<const float*>(a.scales)[r];
      a.y[static_cast<std::int64_t>(m) * a.n + r] = total * Weights::kFactor;
    }
  }
};

// Grid (kRows rows of W).
template <class Weights, int kTiles, int kColumns>
__global__ void __launch_bounds__(32 * kStreamWarps, 2)
    weight_stream(const __grid_constant__ WeightStreamArgs a) {
  if constexpr (runs_here<typename Weights::Operand, 0>()) {
    WeightStream<Weights, kTiles, kColumns> stream(a);
    stream.run();
    stream.reduce();
  }
}

}  // namespace kvplan
