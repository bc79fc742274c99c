// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/latent.cuh"

#include <type_traits>
#include <vector>

#include "kernels/cuda/kernels.h"

namespace kvplan {
namespace {

template <class Operand, int kGroups>
LatentKernel of(const char* format) {
  return {
      format, 16 * kGroups, std::is_same_v<Operand, Bf16>,
      kernel_of<latent_decode<Operand, kGroups>, DecodeArgs>(
          "latent decode", LatentLayout<kGroups>::kThreads, LatentLayout<kGroups>::kSharedBytes),
      kernel_of<combine<Operand>, CombineArgs>("combine", kCombineThreads, 0)};
}

}  // namespace

std::span<const LatentKernel> latent_kernels_cuda() {
  static const std::vector<LatentKernel> kernels = {of<Bf16, 1>("bf16"), of<Bf16, 2>("bf16"),
                                                    of<Fp16, 1>("fp16"), of<Fp16, 2>("fp16")};
  return kernels;
}

}  // namespace kvplan
