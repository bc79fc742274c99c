// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, opened at run time: a linked library would stop the program from starting elsewhere.
#pragma once
#include <memory>

#include "kernels/cuda/gemm.h"

namespace kvplan {

class CublasLt {
 public:
  // nullptr where the library is not installed. `major`: that of the CUDA runtime.
  static std::unique_ptr<CublasLt> open(int major);
  virtual ~CublasLt() = default;
  // `stream` is a cudaStream_t; `workspace` is the device's. nullptr when the library has no
  // algorithm for it.
  virtual std::unique_ptr<GemmPlan> plan(const GemmSpec&, void* stream, std::byte* workspace,
                                         std::size_t workspace_bytes) = 0;
};

}  // namespace kvplan
