// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/prefill.cuh"

#include <type_traits>
#include <vector>

#include "kernels/cuda/kernels.h"

namespace kvplan {
namespace {

template <class Operand, int kWidth>
PrefillKernel of(const char* format) {
  using Layout = PrefillLayout<kWidth>;
  return {format, kWidth, Layout::kQueries, std::is_same_v<Operand, Bf16>,
          kernel_of<prefill_attention<Operand, kWidth>, PrefillArgs>(
              "prefill attention", 32 * Layout::kWarps, Layout::kSharedBytes)};
}

template <class Operand, int... kWidths>
void add_all(std::vector<PrefillKernel>& kernels, const char* format) {
  (kernels.push_back(of<Operand, kWidths>(format)), ...);
}

}  // namespace

std::span<const PrefillKernel> prefill_kernels_cuda() {
  static const std::vector<PrefillKernel> kernels = [] {
    std::vector<PrefillKernel> all;
    add_all<Bf16, 64, 96, 128, 192, 256>(all, "bf16");
    add_all<Fp16, 64, 96, 128, 192, 256>(all, "fp16");
    return all;
  }();
  return kernels;
}

}  // namespace kvplan
