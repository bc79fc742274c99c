// SPDX-License-Identifier: Apache-2.0
// Softmax of 16 rows as far as it has been seen (FlashAttention, Dao et al. 2022), on fragments of
// scores. Scores are exponents of two.
#pragma once
#include "kernels/cuda/fragments.cuh"

namespace kvplan {

constexpr float kMasked = -1e30f;  // a score that weighs nothing; finite, so that differences are

// Rows `row` and `row + 8` of a lane.
struct Softmax {
  float highest[2] = {kMasked, kMasked};
  float sum[2] = {0, 0};  // of this lane's columns only, until `finish`

  // Scores become weights in place; what was summed before is scaled by `factor`.
  template <int kFragments>
  __device__ __forceinline__ void add(float (&scores)[kFragments][4], float (&factor)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float top = highest[half];
#pragma unroll
      for (int n = 0; n < kFragments; ++n)
        top = fmaxf(top, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
      top = fmaxf(top, shuffle_xor(top, 1));
      top = fmaxf(top, shuffle_xor(top, 2));
      factor[half] = power_of_two(highest[half] - top);
      highest[half] = top;
      sum[half] *= factor[half];
#pragma unroll
      for (int n = 0; n < kFragments; ++n)
#pragma unroll
        for (int e = 2 * half; e < 2 * half + 2; ++e) {
          scores[n][e] = scores[n][e] <= kMasked ? 0.0f : power_of_two(scores[n][e] - top);
          sum[half] += scores[n][e];
        }
    }
  }
  __device__ __forceinline__ void finish() {
#pragma unroll
    for (float& s : sum) {
      s += shuffle_xor(s, 1);
      s += shuffle_xor(s, 2);
    }
  }
};

// Rows of an output fragment change their scale.
template <int kFragments>
__device__ __forceinline__ void rescale(float (&out)[kFragments][4], const float (&factor)[2]) {
#pragma unroll
  for (int n = 0; n < kFragments; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e) out[n][e] *= factor[e / 2];
}

// Weights of 16 tokens as the left operand of the product with their values.
template <class Operand>
__device__ __forceinline__ void pack_weights(std::uint32_t (&packed)[4], const float (&low)[4],
                                             const float (&high)[4]) {
  packed[0] = pack<Operand>(low[0], low[1]);
  packed[1] = pack<Operand>(low[2], low[3]);
  packed[2] = pack<Operand>(high[0], high[1]);
  packed[3] = pack<Operand>(high[2], high[3]);
}

}  // namespace kvplan
