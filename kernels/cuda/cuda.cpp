// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/cuda.h"

#include "kernels/cuda/backend.h"
#include "kernels/cuda/device.h"

namespace kvplan {

std::vector<BackendChoice> cuda_backends() {
  std::vector<BackendChoice> choices;
  std::string why_none;
  const int count = cuda_device_count(why_none);
  for (int device = 0; device < count; ++device)
    choices.push_back({count == 1 ? "cuda" : "cuda:" + std::to_string(device),
                       gpu_backend([device] { return cuda_gpu(device); }), ""});
  if (choices.empty()) choices.push_back({"cuda", nullptr, why_none});
  return choices;
}

}  // namespace kvplan
