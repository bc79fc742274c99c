// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/properties.h"

#include <cctype>

#include "kernels/cuda/runtime.h"

namespace kvplan {
namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "device attribute");
  return value;
}

// "NVIDIA H100 80GB HBM3" → "nvidia-h100-80gb-hbm3".
std::string canonical(const std::string& title) {
  std::string name;
  for (const char c : title)
    name += std::isalnum(static_cast<unsigned char>(c))
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '-';
  return name;
}

}  // namespace

GpuLimits cuda_limits(int device) {
  GpuLimits limits;
  limits.processors = attribute(cudaDevAttrMultiProcessorCount, device);
  limits.capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, device) +
                      attribute(cudaDevAttrComputeCapabilityMinor, device);
  limits.shared_per_block = Bytes(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  limits.last_level_cache = Bytes(attribute(cudaDevAttrL2CacheSize, device));
  std::size_t free = 0, total = 0;
  check(cudaSetDevice(device), "device");
  check(cudaMemGetInfo(&free, &total), "memory");
  limits.free_memory = Bytes(static_cast<std::int64_t>(free));
  return limits;
}

DeviceSpec cuda_spec(int device) {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, device), "device");
  const GpuLimits limit = cuda_limits(device);
  DeviceSpec spec;
  spec.title = properties.name;
  spec.name = canonical(spec.title);
  spec.vendor = "NVIDIA";
  spec.kind = "gpu";
  spec.compute_capability =
      std::to_string(limit.capability / 10) + "." + std::to_string(limit.capability % 10);
  spec.architecture = "sm_" + std::to_string(limit.capability);
  spec.processors = limit.processors;
  spec.memory = {Bytes(static_cast<std::int64_t>(properties.totalGlobalMem)), "CUDA driver"};
  spec.memory_marketed = spec.memory;
  spec.last_level_cache = Fact<Bytes>{limit.last_level_cache, "CUDA driver"};
  // Two transfers a clock; kHz and bits as the driver has them.
  const double rate = 2e3 * attribute(cudaDevAttrMemoryClockRate, device) *
                      attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8;
  if (rate > 0) spec.bandwidth = {BytesPerSecond(rate), "CUDA driver: memory clock x bus width"};
  return spec;
}

std::string cuda_bus(int device) {
  char text[32] = "";
  check(cudaDeviceGetPCIBusId(text, sizeof(text), device), "bus");
  return text;
}

}  // namespace kvplan
