// SPDX-License-Identifier: Apache-2.0
// The CUDA devices that the driver shows.
#pragma once
#include <memory>
#include <string>

#include "kernels/cuda/gpu.h"

namespace kvplan {

// 0, and the reason, where there is none.
int cuda_device_count(std::string& why_none);
std::unique_ptr<Gpu> cuda_gpu(int device);

}  // namespace kvplan
