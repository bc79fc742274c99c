// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/stream.cuh"

#include <array>

#include "kernels/cuda/kernels.h"

namespace kvplan {

std::span<const Kernel> read_kernels_cuda() {
  static const std::array kernels = {
      kernel_of<stream_read<2>, StreamArgs>("read, 2 loads a step", kStreamThreads, 0),
      kernel_of<stream_read<4>, StreamArgs>("read, 4 loads a step", kStreamThreads, 0),
      kernel_of<stream_read<8>, StreamArgs>("read, 8 loads a step", kStreamThreads, 0),
  };
  return kernels;
}

std::span<const Kernel> copy_kernels_cuda() {
  static const std::array kernels = {
      kernel_of<stream_copy<1>, StreamArgs>("copy, 1 load a step", kStreamThreads, 0),
      kernel_of<stream_copy<4>, StreamArgs>("copy, 4 loads a step", kStreamThreads, 0),
      kernel_of<stream_copy<8>, StreamArgs>("copy, 8 loads a step", kStreamThreads, 0),
  };
  return kernels;
}

Kernel empty_kernel() { return kernel_of<nothing, StreamArgs>("empty", 32, 0); }

}  // namespace kvplan
