// SPDX-License-Identifier: Apache-2.0
// The kernels that were compiled, as tables: for the device by nvcc, for the emulation by the C++
// compiler.
#pragma once
#include <span>

#include "kernels/cuda/args.h"
#include "kernels/cuda/kernel.h"

namespace kvplan {

std::span<const Kernel> read_kernels_cuda();
std::span<const Kernel> copy_kernels_cuda();
Kernel empty_kernel();

}  // namespace kvplan
