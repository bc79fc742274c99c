// SPDX-License-Identifier: Apache-2.0
// Stages of a ring in shared memory: while one is used, the next ones are on their way.
#pragma once
#include "kernels/cuda/port.cuh"

namespace kvplan {

constexpr int kTile = 16;  // tokens of a tile

// `copy(stage)` asks for a stage and commits, even beyond the last; `barrier` is that of the
// threads that share the ring: after it the stage is there for all, and nobody reads the one before
// any more.
template <int kStages, class Copy, class Barrier, class Add>
__device__ __forceinline__ void pass_stages(int count, Copy copy, Barrier barrier, Add add) {
#pragma unroll
  for (int stage = 0; stage < kStages - 1; ++stage) copy(stage);
  for (int stage = 0; stage < count; ++stage) {
    copy_wait<kStages - 2>();
    barrier();
    copy(stage + kStages - 1);
    add(stage);
  }
  copy_wait<0>();
}

}  // namespace kvplan
