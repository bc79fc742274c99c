// SPDX-License-Identifier: Apache-2.0
// Queries as left operands, in registers where they fit, else in shared memory.
#pragma once
#include "kernels/cuda/fragments.cuh"

namespace kvplan {

template <int kWidth>
struct Queries {
  static constexpr int kSteps = kWidth / 16;  // of a product in depth
  static constexpr bool kShared = kWidth > 128;
  static constexpr int kChunks = kShared ? kSteps * 32 : 0;  // in shared memory

  std::uint32_t held[kShared ? 1 : kSteps][4];
  Chunk* shared;  // [step], of this lane

  // `fragments`: kChunks of shared memory. `word(step, r)` gives register r of a step; of those
  // that share the fragments, one warp may `keep` them for all, before a barrier.
  template <class Word>
  __device__ __forceinline__ Queries(Chunk* fragments, int lane, bool keep, Word word)
      : shared(fragments + lane) {
#pragma unroll
    for (int step = 0; step < kSteps; ++step) {
      Chunk words;
#pragma unroll
      for (int r = 0; r < 4; ++r) words.word[r] = word(step, r);
      if constexpr (!kShared) {
#pragma unroll
        for (int r = 0; r < 4; ++r) held[step][r] = words.word[r];
      } else if (keep) {
        shared_store(shared + step * 32, words);
      }
    }
  }
  __device__ __forceinline__ void operator()(std::uint32_t (&q)[4], int step) const {
    Chunk words{};
    if constexpr (kShared) words = shared_load(shared + step * 32);
#pragma unroll
    for (int r = 0; r < 4; ++r)
      if constexpr (kShared)
        q[r] = words.word[r];
      else
        q[r] = held[step][r];
  }
};

}  // namespace kvplan
