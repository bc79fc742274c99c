// SPDX-License-Identifier: Apache-2.0
// Launches as a CUDA graph, timed by events around it.
#pragma once
#include <cuda_runtime.h>

#include <functional>
#include <memory>

#include "kernels/cuda/gpu.h"

namespace kvplan {

// Of what `enqueue` puts on the stream.
std::unique_ptr<Recording> cuda_recording(cudaStream_t, const std::function<void()>& enqueue);

}  // namespace kvplan
