// SPDX-License-Identifier: Apache-2.0
// Calls of the CUDA runtime: a failure is an Error, and what was created is destroyed.
#pragma once
#include <cuda_runtime.h>

#include <string>

#include "error.h"

namespace kvplan {

inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // or the next call reports it again
  throw Error(std::string("CUDA: ") + what + ": " + cudaGetErrorString(status))
      .advise("If other programs use the GPU, end them and run again.");
}

// Streams, events and graphs are released by the function that made them possible.
template <class Handle, cudaError_t (*kDestroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  ~Owned() {
    if (handle_) kDestroy(handle_);
  }
  Owned(const Owned&) = delete;  // owns the handle
  Owned& operator=(const Owned&) = delete;
  Handle* operator&() { return &handle_; }  // to be filled
  operator Handle() const { return handle_; }

 private:
  Handle handle_ = nullptr;
};
using Stream = Owned<cudaStream_t, cudaStreamDestroy>;
using Event = Owned<cudaEvent_t, cudaEventDestroy>;
using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using Executable = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

}  // namespace kvplan
