// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cuda.h"

namespace kvplan {

std::vector<BackendChoice> cuda_backends() {
  std::vector<BackendChoice> none;
  none.push_back({"cuda", nullptr, KVPLAN_WHY_NO_CUDA});
  return none;
}

}  // namespace kvplan
