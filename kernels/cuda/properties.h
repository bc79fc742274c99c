// SPDX-License-Identifier: Apache-2.0
// What the driver says of a device.
#pragma once
#include <string>

#include "kernels/cuda/gpu.h"

namespace kvplan {

GpuLimits cuda_limits(int device);
DeviceSpec cuda_spec(int device);
std::string cuda_bus(int device);  // "0000:01:00.0"

}  // namespace kvplan
