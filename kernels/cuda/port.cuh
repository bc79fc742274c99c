// SPDX-License-Identifier: Apache-2.0
// The few device primitives that kernels use, for nvcc and for the emulation on the CPU: the same
// kernel sources compile as both.
#pragma once
#include <cstdint>

#include "kernels/cuda/kernel.h"

namespace kvplan {

// What one load, store or asynchronous copy moves.
struct alignas(16) Chunk {
  std::uint32_t word[4];
};

struct alignas(16) Floats {
  float value[4];
};

// Operands of tensor cores: tags. Two are packed in a word, the first in the lower half.
struct Fp16 {};
struct Bf16 {};

}  // namespace kvplan

#ifdef __CUDACC__
#include "kernels/cuda/port_nvcc.cuh"
#else
#include "kernels/cuda/emulation/port.h"
#endif
