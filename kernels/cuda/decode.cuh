// SPDX-License-Identifier: Apache-2.0
// Decode attention, split over tokens (FlashDecoding, Dao et al. 2023). The query heads of a KV
// head are the rows of a tensor-core product, so each byte of the cache is read once for all of
// them. Each warp has its own ring of tiles and needs no other warp before the end.
#pragma once
#include "kernels/cuda/args.h"
#include "kernels/cuda/softmax.cuh"

namespace kvplan {

constexpr int kTile = 16;  // tokens

// Shared memory of a block: rings of key and value tiles, later the warps' results; then queries
// where registers do not hold them.
template <class Cache, int kWidth>
struct DecodeLayout {
  static constexpr int kChunks = kWidth / Cache::kPerChunk;  // of a row
  static constexpr int kSteps = kWidth / 16;                 // of a product in depth
  static constexpr int kFragments = kWidth / 8;              // of an output
  static constexpr bool kSharedQueries = kWidth > 128;
  static constexpr int kQueryBytes = kSharedQueries ? kSteps * 32 * kChunkBytes : 0;

  static constexpr int kWarps = kChunks > 16 ? 2 : 4;
  static constexpr int kScaleChunks = Cache::kScaledPerToken ? kTile * 4 / kChunkBytes : 0;
  static constexpr int kStageChunks = 2 * (kTile * kChunks + kScaleChunks);
  // 96 KiB, what every device since sm_80 gives a block, less queries.
  static constexpr int kRingBudget = 96 * 1024 - (kSharedQueries ? 16 * 1024 : 0);
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

// The queries of a KV head as left operands; rows beyond the group are zero.
template <class Cache, int kWidth>
struct DecodeQueries {
  using L = DecodeLayout<Cache, kWidth>;
  std::uint32_t held[L::kSharedQueries ? 1 : L::kSteps][4];
  const Chunk* shared;  // [step][lane]

  __device__ DecodeQueries(const DecodeArgs& a, const Lane& lane, int group) {
    auto* const fragments =
        reinterpret_cast<Chunk*>(shared_memory() + L::kSharedBytes - L::kQueryBytes);
    shared = fragments + lane.index;
    const std::int64_t base = (static_cast<std::int64_t>(block_index().z) * a.heads +
                               static_cast<std::int64_t>(block_index().y) * group) *
                              kWidth;
#pragma unroll
    for (int step = 0; step < L::kSteps; ++step) {
      Chunk words;
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const int row = lane.row + r % 2 * 8, column = Cache::query_column(step, lane.place, r);
        words.word[r] =
            row < group
                ? *reinterpret_cast<const std::uint32_t*>(a.queries + base + row * kWidth + column)
                : 0u;
      }
      if constexpr (!L::kSharedQueries) {
#pragma unroll
        for (int r = 0; r < 4; ++r) held[step][r] = words.word[r];
      } else if (thread_index() < 32) {
        shared_store(fragments + step * 32 + lane.index, words);
      }
    }
    if constexpr (L::kSharedQueries) block_barrier();
  }
  __device__ void operator()(std::uint32_t (&q)[4], int step) const {
    Chunk words{};
    if constexpr (L::kSharedQueries) words = shared_load(shared + step * 32);
#pragma unroll
    for (int r = 0; r < 4; ++r)
      if constexpr (L::kSharedQueries)
        q[r] = words.word[r];
      else
        q[r] = held[step][r];
  }
};

// A warp adds one tile.
template <class Cache, int kWidth>
__device__ __forceinline__ void add_tile(const DecodeTiles<Cache, kWidth>& tiles, int tile,
                                         const DecodeQueries<Cache, kWidth>& queries,
                                         const Lane& lane, Softmax& softmax,
                                         float (&out)[kWidth / 8][4]) {
  using L = DecodeLayout<Cache, kWidth>;
  float scores[2][4] = {};
#pragma unroll
  for (int pair = 0; pair < L::kChunks / 2; ++pair) {
    std::uint32_t r[4];
    load_keys<L::kChunks>(r, tiles.keys(tile), pair, lane.index);
    Cache::add_scores(scores, pair, r, queries);
  }
#pragma unroll
  for (int n = 0; n < 2; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int token = n * 8 + 2 * lane.place + e % 2;
      float scale = tiles.a.score_scale;
      if constexpr (Cache::kScaledPerToken) scale *= tiles.scale(tile, 0, token);
      scores[n][e] = tiles.token(tile) + token < tiles.last ? scores[n][e] * scale : kMasked;
    }
  float factor[2];
  softmax.add(scores, factor);
  rescale(out, factor);
  if constexpr (Cache::kScaledPerToken) {
#pragma unroll
    for (int n = 0; n < 2; ++n)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        scores[n][e] *= tiles.scale(tile, 1, n * 8 + 2 * lane.place + e % 2);
  }
  std::uint32_t weights[4];
  pack_weights<typename Cache::Operand>(weights, scores[0], scores[1]);
#pragma unroll
  for (int pair = 0; pair < L::kChunks / 2; ++pair) {
    std::uint32_t r[4];
    load_values<L::kChunks>(r, tiles.values(tile), pair, lane.index);
    Cache::add_values(out, pair, weights, r);
  }
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

// All tiles of a block's split; each warp leaves its result.
template <class Cache, int kWidth>
__device__ __forceinline__ void attend_split(const DecodeArgs& a, int group) {
  using L = DecodeLayout<Cache, kWidth>;
  const Lane lane = lane_of_thread();
  DecodeTiles<Cache, kWidth> tiles(a, lane.index);
  for (int tile = 0; tile < L::kStages - 1; ++tile) tiles.copy(tile);
  const DecodeQueries<Cache, kWidth> queries(a, lane, group);
  Softmax softmax;
  float out[L::kFragments][4] = {};
  for (int tile = 0; tile < tiles.count(); ++tile) {
    copy_wait<L::kStages - 2>();
    warp_barrier();
    add_tile(tiles, tile, queries, lane, softmax, out);
    tiles.copy(tile + L::kStages - 1);
  }
  copy_wait<0>();
  softmax.finish();
  block_barrier();
  leave_result<Cache, kWidth>(lane, softmax, out);
  block_barrier();
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

// Grid (split, KV head, sequence).
template <class Cache, int kWidth>
__global__ void __launch_bounds__(32 * DecodeLayout<Cache, kWidth>::kWarps)
    decode_attention(const __grid_constant__ DecodeArgs a) {
  if constexpr (runs_here<typename Cache::Operand, DecodeLayout<Cache, kWidth>::kSharedBytes>()) {
    const int group = a.heads / a.kv_heads;
    attend_split<Cache, kWidth>(a, group);
    merge_warps<Cache, kWidth>(a, group);
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
