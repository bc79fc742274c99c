// SPDX-License-Identifier: Apache-2.0
// Streams. What a device reaches depends on the loads in flight, so there are variants, and the
// fastest on the device counts. Neighbouring threads take neighbouring 16 bytes.
#pragma once
#include "kernels/cuda/args.h"
#include "kernels/cuda/port.cuh"

namespace kvplan {

constexpr int kStreamThreads = 256;

// Calls many(i) for groups of kLoads chunks, a whole grid apart, and one(i) for what remains.
template <int kLoads, class Many, class One>
__device__ __forceinline__ void stride(std::int64_t chunks, Many many, One one) {
  const std::int64_t step = static_cast<std::int64_t>(grid_size().x) * kStreamThreads;
  std::int64_t i = static_cast<std::int64_t>(block_index().x) * kStreamThreads + thread_index();
  for (; i + (kLoads - 1) * step < chunks; i += kLoads * step) many(i, step);
  for (; i < chunks; i += step) one(i);
}

__device__ __forceinline__ std::uint32_t sum_of(const Chunk& c) {
  return c.word[0] + c.word[1] + c.word[2] + c.word[3];
}

// The sum of all words, a part from each thread.
template <int kLoads>
__global__ void __launch_bounds__(kStreamThreads)
    stream_read(const __grid_constant__ StreamArgs a) {
  const auto* from = static_cast<const Chunk*>(a.from);
  std::uint32_t sum = 0;
  stride<kLoads>(
      a.chunks,
      [&](std::int64_t i, std::int64_t step) {
        Chunk in[kLoads];
#pragma unroll
        for (int u = 0; u < kLoads; ++u) in[u] = load_stream(from + i + u * step);
#pragma unroll
        for (int u = 0; u < kLoads; ++u) sum += sum_of(in[u]);
      },
      [&](std::int64_t i) { sum += sum_of(load_stream(from + i)); });
  a.sums[static_cast<std::int64_t>(block_index().x) * kStreamThreads + thread_index()] = sum;
}

template <int kLoads>
__global__ void __launch_bounds__(kStreamThreads)
    stream_copy(const __grid_constant__ StreamArgs a) {
  const auto* from = static_cast<const Chunk*>(a.from);
  auto* to = static_cast<Chunk*>(a.to);
  stride<kLoads>(
      a.chunks,
      [&](std::int64_t i, std::int64_t step) {
        Chunk in[kLoads];
#pragma unroll
        for (int u = 0; u < kLoads; ++u) in[u] = load_stream(from + i + u * step);
#pragma unroll
        for (int u = 0; u < kLoads; ++u) store_stream(to + i + u * step, in[u]);
      },
      [&](std::int64_t i) { store_stream(to + i, load_stream(from + i)); });
}

// What a launch costs.
__global__ void __launch_bounds__(32) nothing(const __grid_constant__ StreamArgs a) {
  if (a.chunks < 0) a.sums[0] = 0;
}

}  // namespace kvplan
