// SPDX-License-Identifier: Apache-2.0
// A GPU as a backend, real or emulated.
#pragma once
#include <memory>
#include <optional>

#include "kernels/backend.h"
#include "kernels/cuda/gpu.h"

namespace kvplan {

struct GpuOptions {
  std::optional<Bytes> buffers;    // empty: by cache size and free memory
  std::int64_t block_tokens = 16;  // of a paged cache, as engines have it; 0: contiguous
};

// The GPU is opened when something is asked of it, buffers are made when the first problem is
// prepared.
std::unique_ptr<Backend> gpu_backend(std::function<std::unique_ptr<Gpu>()> open,
                                     const GpuOptions& = {});

}  // namespace kvplan
