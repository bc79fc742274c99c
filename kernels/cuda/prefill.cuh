// SPDX-License-Identifier: Apache-2.0
// Causal attention of many queries (FlashAttention-2, Dao 2023): a warp has 16 queries of one head,
// a block shares tiles of keys and values. With mma.sync alone it is a lower bound from Hopper on,
// whose tensor cores want asynchronous products.
#pragma once
#include "kernels/cuda/args.h"
#include "kernels/cuda/queries.cuh"
#include "kernels/cuda/softmax.cuh"
#include "kernels/cuda/stages.cuh"

namespace kvplan {

template <int kWidth>
struct PrefillLayout {
  static constexpr int kWarps = 4;
  static constexpr int kQueries = 16 * kWarps;
  static constexpr int kChunks = kWidth / 8;
  static constexpr int kSteps = kWidth / 16;
  static constexpr int kTiles = kWidth > 128 ? 1 : 4;  // of 16 tokens in a stage
  static constexpr int kStages = 2;
  static constexpr int kTileChunks = kTile * kChunks;
  static constexpr int kStageChunks = 2 * kTiles * kTileChunks;
  static constexpr int kQueryChunks = kWarps * Queries<kWidth>::kChunks;
  static constexpr int kSharedBytes = (kStages * kStageChunks + kQueryChunks) * kChunkBytes;
};

template <class Operand, int kWidth>
struct PrefillBlock {
  using L = PrefillLayout<kWidth>;
  using Cache = Stored16<Operand>;
  const PrefillArgs& a;
  Lane lane = lane_of_thread();
  int warp = thread_index() / 32;
  // The last queries see most: their blocks begin first.
  int first_query =
      (static_cast<int>(grid_size().x) - 1 - static_cast<int>(block_index().x)) * L::kQueries;
  int query = first_query + warp * 16;  // first of the warp's
  int tokens = min(a.past + a.queries, a.past + first_query + L::kQueries);
  Chunk* ring = reinterpret_cast<Chunk*>(shared_memory());
  Queries<kWidth> queries;  // each warp's own
  Softmax softmax;
  float out[kWidth / 8][4] = {};

  __device__ explicit PrefillBlock(const PrefillArgs& args)
      : a(args),
        queries(ring + L::kStages * L::kStageChunks + warp * Queries<kWidth>::kChunks, lane.index,
                true, [this](int step, int r) {
                  const int i = query + lane.row + r % 2 * 8;
                  const int column = Cache::query_column(step, lane.place, r);
                  return i < a.queries
                             ? *reinterpret_cast<const std::uint32_t*>(a.q + row(i) + column)
                             : 0u;
                }) {}
  __device__ std::int64_t row(int i) const {
    return ((static_cast<std::int64_t>(block_index().z) * a.queries + i) * a.heads +
            block_index().y) *
           kWidth;
  }

  __device__ int stages() const { return (tokens + L::kTiles * kTile - 1) / (L::kTiles * kTile); }
  __device__ Chunk* keys(int stage, int tile) const {
    return ring + stage % L::kStages * L::kStageChunks + tile * L::kTileChunks;
  }
  __device__ Chunk* values(int stage, int tile) const { return keys(stage, L::kTiles + tile); }

  __device__ void copy(int stage) const {
    if (stage < stages()) copy_tiles(stage);
    copy_commit();
  }
  __device__ void copy_tiles(int stage) const {
    const auto kv_head = static_cast<std::int64_t>(block_index().z) * a.kv_heads +
                         static_cast<int>(block_index().y) / (a.heads / a.kv_heads);
    const int start = stage * L::kTiles * kTile;
    const std::int64_t at =
        (kv_head * a.head_rows + start) * L::kChunks * static_cast<std::int64_t>(kChunkBytes);
#pragma unroll
    for (int i = 0; i < L::kTiles * L::kTileChunks / (32 * L::kWarps); ++i) {
      const int chunk = i * 32 * L::kWarps + thread_index(), r = chunk / L::kChunks;
      const bool valid = start + r < tokens;
      const std::int64_t from = valid ? at + chunk * kChunkBytes : 0;
      const int to =
          r / kTile * L::kTileChunks + swizzled<L::kChunks>(r % kTile, chunk % L::kChunks);
      copy_async(keys(stage, 0) + to, a.keys + from, valid);
      copy_async(values(stage, 0) + to, a.values + from, valid);
    }
  }

  __device__ void add_scores(int stage, float (&scores)[2 * L::kTiles][4]) const {
#pragma unroll
    for (int tile = 0; tile < L::kTiles; ++tile) {
      float two[2][4] = {};
#pragma unroll
      for (int pair = 0; pair < L::kSteps; ++pair) {
        std::uint32_t r[4];
        load_keys<L::kChunks>(r, keys(stage, tile), pair, lane.index);
        Cache::add_scores(two, pair, r, queries);
      }
#pragma unroll
      for (int n = 0; n < 2; ++n)
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const int token = (stage * L::kTiles + tile) * kTile + n * 8 + 2 * lane.place + e % 2;
          const bool seen = token <= a.past + query + lane.row + e / 2 * 8 && token < tokens;
          scores[2 * tile + n][e] = seen ? two[n][e] * a.score_scale : kMasked;
        }
    }
  }

  __device__ void add(int stage) {
    float scores[2 * L::kTiles][4], factor[2];
    add_scores(stage, scores);
    softmax.add(scores, factor);
    rescale(out, factor);
#pragma unroll
    for (int tile = 0; tile < L::kTiles; ++tile) {
      std::uint32_t weights[4];
      pack_weights<Operand>(weights, scores[2 * tile], scores[2 * tile + 1]);
#pragma unroll
      for (int pair = 0; pair < L::kSteps; ++pair) {
        std::uint32_t r[4];
        load_values<L::kChunks>(r, values(stage, tile), pair, lane.index);
        Cache::add_values(out, pair, weights, r);
      }
    }
  }

  __device__ void run() {
    pass_stages<L::kStages>(
        stages(), [this](int stage) { copy(stage); }, [] { block_barrier(); },
        [this](int stage) { add(stage); });
    softmax.finish();
  }

  __device__ void write() const {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int i = query + lane.row + half * 8;
      if (i >= a.queries) continue;
#pragma unroll
      for (int n = 0; n < kWidth / 8; ++n)
        *reinterpret_cast<std::uint32_t*>(a.out + row(i) + Cache::output_column(n, lane.place, 0)) =
            pack<Operand>(out[n][2 * half] / softmax.sum[half],
                          out[n][2 * half + 1] / softmax.sum[half]);
    }
  }
};

// Grid (kQueries queries, head, sequence).
template <class Operand, int kWidth>
__global__ void __launch_bounds__(32 * PrefillLayout<kWidth>::kWarps)
    prefill_attention(const __grid_constant__ PrefillArgs a) {
  if constexpr (copies_here<Operand>()) {
    PrefillBlock<Operand, kWidth> block(a);
    block.run();
    block.write();
  }
}

}  // namespace kvplan
