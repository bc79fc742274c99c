// SPDX-License-Identifier: Apache-2.0
// Decode attention over a latent cache (MLA in absorbed form, DeepSeek-V2, section 2.1): one row of
// latent and rope per token serves all heads as key, its latent as value. Four warps share 16
// heads: each takes a quarter of the depth of the scores, whose parts meet in shared memory, and a
// quarter of the columns of the output.
#pragma once
#include "kernels/cuda/merge.cuh"

namespace kvplan {

constexpr int kLatent = 512, kLatentRow = 576;

// kGroups: of 16 heads in a block.
template <int kGroups>
struct LatentLayout {
  static constexpr int kParts = 4;
  static constexpr int kThreads = 32 * kParts * kGroups;
  static constexpr int kTiles = 2;  // of 16 tokens in a stage
  static constexpr int kStages = 2;
  static constexpr int kChunks = kLatentRow / 8;
  static constexpr int kPairs = kChunks / 2 / kParts;  // of chunks, in a part of the scores
  static constexpr int kOutPairs = kLatent / 16 / kParts;
  static constexpr int kFragments = 2 * kTiles;  // of scores
  static constexpr int kTileChunks = kTile * kChunks;
  static constexpr int kRingChunks = kStages * kTiles * kTileChunks;
  static constexpr int kSharedBytes =
      (kRingChunks + kGroups * kParts * kFragments * 32) * kChunkBytes;
};

template <class Operand, int kGroups>
struct LatentBlock {
  using L = LatentLayout<kGroups>;
  using Cache = Stored16<Operand>;
  const DecodeArgs& a;
  Lane lane = lane_of_thread();
  int group = thread_index() / 32 / L::kParts, part = thread_index() / 32 % L::kParts;
  int first = static_cast<int>(block_index().x) * a.tokens_per_split;
  int last = min(a.context, first + a.tokens_per_split);
  int head = (static_cast<int>(block_index().y) * kGroups + group) * 16;  // first of the warp's
  Chunk* ring = reinterpret_cast<Chunk*>(shared_memory());
  std::uint32_t queries[L::kPairs][4];
  Softmax softmax;
  float out[2 * L::kOutPairs][4] = {};

  __device__ explicit LatentBlock(const DecodeArgs& args) : a(args) {
    const std::int64_t row = static_cast<std::int64_t>(block_index().z) * a.heads + head;
#pragma unroll
    for (int pair = 0; pair < L::kPairs; ++pair)
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int of_group = lane.row + r % 2 * 8;
        const int column = Cache::query_column(part * L::kPairs + pair, lane.place, r);
        queries[pair][r] = head + of_group < a.heads
                               ? *reinterpret_cast<const std::uint32_t*>(
                                     a.queries + (row + of_group) * kLatentRow + column)
                               : 0u;
      }
  }

  __device__ int stages() const {
    return last > first ? (last - first + L::kTiles * kTile - 1) / (L::kTiles * kTile) : 0;
  }
  __device__ int token(int stage, int tile) const {
    return first + (stage * L::kTiles + tile) * kTile;
  }
  __device__ Chunk* rows(int stage, int tile) const {
    return ring + (stage % L::kStages * L::kTiles + tile) * L::kTileChunks;
  }
  // The scores of a group's 16 heads, a part from each of its warps: [part][fragment][lane].
  __device__ Chunk* parts() const {
    return ring + L::kRingChunks + group * L::kParts * L::kFragments * 32 + lane.index;
  }

  __device__ void copy(int stage) {
    if (stage < stages())
#pragma unroll
      for (int tile = 0; tile < L::kTiles; ++tile) copy_tile(stage, tile);
    copy_commit();
  }
  __device__ void copy_tile(int stage, int tile) {
    const int start = token(stage, tile);
    const int block = min(start, a.context - 1) >> a.block_shift;
    const std::int64_t at =
        a.blocks[static_cast<std::int64_t>(block_index().z) * a.blocks_per_sequence + block] *
            a.block_bytes +
        static_cast<std::int64_t>(start & ((1 << a.block_shift) - 1)) * L::kChunks * kChunkBytes;
    for (int chunk = thread_index(); chunk < L::kTileChunks; chunk += L::kThreads) {
      const int row = chunk / L::kChunks;
      const bool valid = start + row < last;
      copy_async(rows(stage, tile) + swizzled<L::kChunks>(row, chunk % L::kChunks),
                 a.keys + (valid ? at + chunk * kChunkBytes : 0), valid);
    }
  }

  __device__ void leave_scores(int stage) const {
#pragma unroll
    for (int tile = 0; tile < L::kTiles; ++tile) {
      float scores[2][4] = {};
#pragma unroll
      for (int pair = 0; pair < L::kPairs; ++pair) {
        std::uint32_t r[4];
        load_keys<L::kChunks>(r, rows(stage, tile), part * L::kPairs + pair, lane.index);
        multiply<Operand>(scores[0], queries[pair], r[0], r[1]);
        multiply<Operand>(scores[1], queries[pair], r[2], r[3]);
      }
#pragma unroll
      for (int n = 0; n < 2; ++n)
        shared_store(
            reinterpret_cast<Floats*>(parts()) + (part * L::kFragments + 2 * tile + n) * 32,
            Floats{{scores[n][0], scores[n][1], scores[n][2], scores[n][3]}});
    }
  }
  __device__ void take_scores(int stage, float (&scores)[L::kFragments][4]) const {
#pragma unroll
    for (int n = 0; n < L::kFragments; ++n) {
#pragma unroll
      for (int from = 0; from < L::kParts; ++from) {
        const Floats four =
            shared_load(reinterpret_cast<const Floats*>(parts()) + (from * L::kFragments + n) * 32);
#pragma unroll
        for (int e = 0; e < 4; ++e) scores[n][e] += four.value[e];
      }
#pragma unroll
      for (int e = 0; e < 4; ++e)
        scores[n][e] = token(stage, 0) + n * 8 + 2 * lane.place + e % 2 < last
                           ? scores[n][e] * a.score_scale
                           : kMasked;
    }
  }

  __device__ void add(int stage) {
    leave_scores(stage);
    block_barrier();
    float scores[L::kFragments][4] = {}, factor[2];
    take_scores(stage, scores);
    softmax.add(scores, factor);
    rescale(out, factor);
#pragma unroll
    for (int tile = 0; tile < L::kTiles; ++tile) {
      std::uint32_t weights[4];
      pack_weights<Operand>(weights, scores[2 * tile], scores[2 * tile + 1]);
#pragma unroll
      for (int pair = 0; pair < L::kOutPairs; ++pair) {
        std::uint32_t r[4];
        load_values<L::kChunks>(r, rows(stage, tile), part * L::kOutPairs + pair, lane.index);
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
    const std::int64_t rows = static_cast<std::int64_t>(a.batch) * a.heads;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int of_group = lane.row + half * 8;
      if (head + of_group >= a.heads) continue;
      const std::int64_t row =
          static_cast<std::int64_t>(block_index().z) * a.heads + head + of_group;
      const std::int64_t at = a.splits == 1 ? row : block_index().x * rows + row;
#pragma unroll
      for (int n = 0; n < 2 * L::kOutPairs; ++n)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const std::int64_t to =
              at * kLatent + part * kLatent / L::kParts + Cache::output_column(n, lane.place, e);
          const float value = out[n][2 * half + e];
          if (a.splits == 1)
            a.out[to] = rounded<Operand>(value / softmax.sum[half]);
          else
            a.parts[to] = value;
        }
      if (a.splits == 1 || part != 0 || lane.place != 0) continue;
      a.states[2 * at] = softmax.highest[half];
      a.states[2 * at + 1] = softmax.sum[half];
    }
  }
};

// Grid (split, kGroups · 16 heads, sequence).
template <class Operand, int kGroups>
__global__ void __launch_bounds__(LatentLayout<kGroups>::kThreads)
    latent_decode(const __grid_constant__ DecodeArgs a) {
  if constexpr (runs_here<Operand, LatentLayout<kGroups>::kSharedBytes>()) {
    LatentBlock<Operand, kGroups> block(a);
    block.run();
    block.write();
  }
}

}  // namespace kvplan
