// SPDX-License-Identifier: Apache-2.0
// The kernels that were compiled, as tables: for the device by nvcc, for the emulation by the C++
// compiler.
#pragma once
#include <span>
#include <string_view>

#include "kernels/cuda/args.h"
#include "kernels/cuda/kernel.h"

namespace kvplan {

std::span<const Kernel> read_kernels_cuda();
std::span<const Kernel> copy_kernels_cuda();
Kernel empty_kernel();

// Kernels of one format and width.
struct DecodeKernel {
  std::string_view format;  // canonical name
  int width;
  float factor;  // by which stored numbers are larger than what the kernel computes with
  bool bf16;     // queries and outputs; else fp16
  Kernel kernel;
  Kernel combine;
};
std::span<const DecodeKernel> decode_kernels_cuda();

// Kernels of one format; x has at most `columns` rows, a block takes `rows` rows of W.
struct WeightStreamKernel {
  std::string_view format;
  int rows, columns;
  bool bf16;  // x; else fp16
  Kernel kernel;
};
std::span<const WeightStreamKernel> weight_stream_kernels_cuda();

// Latent 512 and rope 64; a block takes `heads` heads.
struct LatentKernel {
  std::string_view format;
  int heads;
  bool bf16;
  Kernel kernel;
  Kernel combine;
};
std::span<const LatentKernel> latent_kernels_cuda();

// A block takes `queries` queries of one head.
struct PrefillKernel {
  std::string_view format;
  int width;
  int queries;
  bool bf16;
  Kernel kernel;
};
std::span<const PrefillKernel> prefill_kernels_cuda();

}  // namespace kvplan
