// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/decode.cuh"

#include <type_traits>
#include <vector>

#include "kernels/cuda/kernels.h"

namespace kvplan {
namespace {

template <class Cache, int kWidth>
DecodeKernel of(const char* format) {
  using Layout = DecodeLayout<Cache, kWidth>;
  return {format,
          kWidth,
          Cache::kFactor,
          std::is_same_v<typename Cache::Operand, Bf16>,
          kernel_of<decode_attention<Cache, kWidth>, DecodeArgs>(
              "decode attention", 32 * Layout::kWarps, Layout::kSharedBytes),
          kernel_of<combine<typename Cache::Operand>, CombineArgs>("combine", kCombineThreads, 0)};
}

template <class Cache, int... kWidths>
void add_all(std::vector<DecodeKernel>& kernels, const char* format) {
  (kernels.push_back(of<Cache, kWidths>(format)), ...);
}

}  // namespace

std::span<const DecodeKernel> decode_kernels_cuda() {
  static const std::vector<DecodeKernel> kernels = [] {
    std::vector<DecodeKernel> all;
    add_all<CacheBf16, 64, 96, 128, 192, 256>(all, "bf16");
    add_all<CacheFp16, 64, 96, 128, 192, 256>(all, "fp16");
    add_all<CacheFp8, 64, 96, 128, 192, 256>(all, "fp8");
    add_all<CacheInt8, 64, 96, 128, 192, 256>(all, "int8-head");
    return all;
  }();
  return kernels;
}

}  // namespace kvplan
