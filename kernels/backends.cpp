// SPDX-License-Identifier: Apache-2.0
#include "kernels/backend.h"
#include "kernels/cpu/backend.h"
#include "kernels/cuda/cuda.h"

namespace kvplan {

std::vector<BackendChoice> all_backends() {
  std::vector<BackendChoice> choices = cuda_backends();
  choices.push_back({"cpu", cpu_backend(), ""});
  return choices;
}

}  // namespace kvplan
