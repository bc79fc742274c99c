// SPDX-License-Identifier: Apache-2.0
// The CUDA devices of this machine, or why there are none. Built from cuda.cpp or from absent.cpp.
#pragma once
#include <vector>

#include "kernels/backend.h"

namespace kvplan {

std::vector<BackendChoice> cuda_backends();

}  // namespace kvplan
