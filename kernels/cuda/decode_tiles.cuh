// SPDX-License-Identifier: Apache-2.0
// What a block of decode attention keeps in shared memory, and the copies into it: each warp has
// its own ring of tiles of keys and values.
#pragma once
#include "kernels/cuda/args.h"
#include "kernels/cuda/queries.cuh"
#include "kernels/cuda/stages.cuh"

namespace kvplan {

// Shared memory of a block: rings of key and value tiles, later the warps' results; then queries
// where registers do not hold them.
template <class Cache, int kWidth>
struct DecodeLayout {
  static constexpr int kChunks = kWidth / Cache::kPerChunk;  // of a row
  static constexpr int kFragments = kWidth / 8;              // of an output
  static constexpr int kQueryBytes = Queries<kWidth>::kChunks * kChunkBytes;

  static constexpr int kWarps = kChunks > 16 ? 2 : 4;
  static constexpr int kScaleChunks = Cache::kScaledPerToken ? kTile * 4 / kChunkBytes : 0;
  static constexpr int kStageChunks = 2 * (kTile * kChunks + kScaleChunks);
  // 96 KiB, what every device since sm_80 gives a block, less queries.
  static constexpr int kRingBudget = 96 * 1024 - (kQueryBytes ? 16 * 1024 : 0);
  static constexpr int kFit = kRingBudget / (kWarps * 2 * kTile * kChunks * kChunkBytes);
  static constexpr int kStages = kFit > 4 ? 4 : kFit;
  static_assert(kStages >= 2 && kChunks % 2 == 0);

  static constexpr int kResultRow = kWidth + 4;  // and highest score, sum
  static constexpr int kRingBytes = kWarps * kStages * kStageChunks * kChunkBytes;
  static constexpr int kResultBytes = kWarps * 16 * kResultRow * 4;
  static constexpr int kSharedBytes =
      (kRingBytes > kResultBytes ? kRingBytes : kResultBytes) + kQueryBytes;
};

// The part of the cache that a block reads, and copies of it into a warp's ring.
template <class Cache, int kWidth>
struct DecodeTiles {
  using L = DecodeLayout<Cache, kWidth>;
  const DecodeArgs& a;
  int first, last;  // tokens
  int lane, warp;
  Chunk* ring;
  int block_ahead = 0;  // of the next tile: looked up one tile early

  __device__ DecodeTiles(const DecodeArgs& args, int lane_index)
      : a(args),
        first(static_cast<int>(block_index().x) * args.tokens_per_split),
        last(min(args.context, first + args.tokens_per_split)),
        lane(lane_index),
        warp(thread_index() / 32),
        ring(reinterpret_cast<Chunk*>(shared_memory()) + warp * L::kStages * L::kStageChunks) {
    look_up(0);
  }
  __device__ int count() const {
    return last > first ? (last - first + kTile * L::kWarps - 1) / (kTile * L::kWarps) : 0;
  }
  __device__ int token(int tile) const { return first + (tile * L::kWarps + warp) * kTile; }
  __device__ Chunk* keys(int tile) const { return ring + tile % L::kStages * L::kStageChunks; }
  __device__ Chunk* values(int tile) const { return keys(tile) + kTile * L::kChunks; }
  // Key scales of the tile, then value scales.
  __device__ Chunk* scales(int tile) const { return keys(tile) + 2 * kTile * L::kChunks; }

  __device__ void look_up(int tile) {
    const int block = min(token(tile), a.context - 1) >> a.block_shift;
    block_ahead =
        a.blocks[static_cast<std::int64_t>(block_index().z) * a.blocks_per_sequence + block];
  }

  __device__ void copy(int tile) {
    const int start = token(tile), within = start & ((1 << a.block_shift) - 1);
    const bool wanted = tile < count();
    const auto head = static_cast<std::int64_t>(block_index().y);
    const std::int64_t at = block_ahead * a.block_bytes + head * a.head_bytes +
                            static_cast<std::int64_t>(within) * L::kChunks * kChunkBytes;
#pragma unroll
    for (int i = 0; i < kTile * L::kChunks / 32; ++i) {
      const int chunk = i * 32 + lane, row = chunk / L::kChunks;
      const bool valid = wanted && start + row < last;
      const std::int64_t from = valid ? at + chunk * kChunkBytes : 0;
      const int to = swizzled<L::kChunks>(row, chunk % L::kChunks);
      copy_async(keys(tile) + to, a.keys + from, valid);
      copy_async(values(tile) + to, a.values + from, valid);
    }
    if constexpr (Cache::kScaledPerToken) copy_scales(tile, start, within, wanted);
    copy_commit();
    look_up(tile + 1);
  }

  // Four tokens a chunk; lanes 0 to 3 take those of keys, 4 to 7 those of values.
  __device__ void copy_scales(int tile, int start, int within, bool wanted) {
    if (lane >= 2 * L::kScaleChunks) return;
    const int four = lane % L::kScaleChunks * 4;
    const bool valid = wanted && start + four < last;
    const float* const numbers = lane < L::kScaleChunks ? a.key_scales : a.value_scales;
    const std::int64_t at = block_ahead * a.block_scales +
                            static_cast<std::int64_t>(block_index().y) * a.head_scales + within;
    copy_async(this->scales(tile) + lane, numbers + (valid ? at + four : 0), valid);
  }
  // Of keys (which = 0) or values (1), token n · 8 + 2 · place + e of the tile.
  __device__ float scale(int tile, int which, int token_of_tile) const {
    return shared_load(reinterpret_cast<const float*>(scales(tile)) + which * kTile +
                       token_of_tile);
  }
};

}  // namespace kvplan
