// SPDX-License-Identifier: Apache-2.0
// Decode attention, split over tokens (FlashDecoding, Dao et al. 2023). The query heads of a KV
// head are the rows of a tensor-core product, so each byte of the cache is read once for all of
// them. Each warp has its own ring of tiles and needs no other warp before the end.
#pragma once
#include "kernels/cuda/merge.cuh"

namespace kvplan {

// The queries of a KV head; rows beyond the group are zero.
template <class Cache, int kWidth>
__device__ __forceinline__ Queries<kWidth> decode_queries(const DecodeArgs& a, const Lane& lane,
                                                          int group) {
  using L = DecodeLayout<Cache, kWidth>;
  const std::int64_t base = (static_cast<std::int64_t>(block_index().z) * a.heads +
                             static_cast<std::int64_t>(block_index().y) * group) *
                            kWidth;
  const Queries<kWidth> queries(
      reinterpret_cast<Chunk*>(shared_memory() + L::kSharedBytes - L::kQueryBytes), lane.index,
      thread_index() < 32, [&](int step, int r) {
        const int row = lane.row + r % 2 * 8, column = Cache::query_column(step, lane.place, r);
        return row < group ? *reinterpret_cast<const std::uint32_t*>(a.queries + base +
                                                                     row * kWidth + column)
                           : 0u;
      });
  if constexpr (Queries<kWidth>::kShared) block_barrier();
  return queries;
}

// A warp adds one tile.
template <class Cache, int kWidth>
__device__ __forceinline__ void add_tile(const DecodeTiles<Cache, kWidth>& tiles, int tile,
                                         const Queries<kWidth>& queries, const Lane& lane,
                                         Softmax& softmax, float (&out)[kWidth / 8][4]) {
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

// All tiles of a block's split; each warp leaves its result.
template <class Cache, int kWidth>
__device__ __forceinline__ void attend_split(const DecodeArgs& a, int group) {
  using L = DecodeLayout<Cache, kWidth>;
  const Lane lane = lane_of_thread();
  DecodeTiles<Cache, kWidth> tiles(a, lane.index);
  const Queries<kWidth> queries = decode_queries<Cache, kWidth>(a, lane, group);
  Softmax softmax;
  float out[L::kFragments][4] = {};
  pass_stages<L::kStages>(
      tiles.count(), [&](int tile) { tiles.copy(tile); }, [] { warp_barrier(); },
      [&](int tile) { add_tile(tiles, tile, queries, lane, softmax, out); });
  softmax.finish();
  block_barrier();
  leave_result<Cache, kWidth>(lane, softmax, out);
  block_barrier();
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

}  // namespace kvplan
