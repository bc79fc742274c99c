// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/weight_stream.cuh"

#include <type_traits>
#include <vector>

#include "kernels/cuda/kernels.h"

namespace kvplan {
namespace {

template <class Weights, int kTiles, int kColumns>
WeightStreamKernel of(const char* format) {
  return {format, 16 * kTiles, 8 * kColumns, std::is_same_v<typename Weights::Operand, Bf16>,
          kernel_of<weight_stream<Weights, kTiles, kColumns>, WeightStreamArgs>(
              "weight streaming", 32 * kStreamWarps,
              WeightStream<Weights, kTiles, kColumns>::kSharedBytes)};
}

// One tile of 16 rows a block, or as many as registers hold.
template <class Weights, int kMany>
void add_all(std::vector<WeightStreamKernel>& kernels, const char* format) {
  kernels.push_back(of<Weights, 1, 1>(format));
  kernels.push_back(of<Weights, kMany, 1>(format));
  kernels.push_back(of<Weights, 1, 2>(format));
  kernels.push_back(of<Weights, kMany, 2>(format));
}

}  // namespace

std::span<const WeightStreamKernel> weight_stream_kernels_cuda() {
  static const std::vector<WeightStreamKernel> kernels = [] {
    std::vector<WeightStreamKernel> all;
    add_all<Weights16<Bf16>, 4>(all, "bf16");
    add_all<Weights16<Fp16>, 4>(all, "fp16");
    add_all<WeightsFp8, 4>(all, "fp8");
    add_all<WeightsInt8, 4>(all, "int8-channel");
    add_all<WeightsInt4, 2>(all, "int4-g128");
    return all;
  }();
  return kernels;
}

}  // namespace kvplan
