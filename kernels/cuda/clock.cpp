// SPDX-License-Identifier: Apache-2.0
// Names and values are those of nvml.h.
#include "kernels/cuda/clock.h"

#include <dlfcn.h>

namespace kvplan {
namespace {

constexpr int kProcessorClock = 1;  // NVML_CLOCK_SM

template <class Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

GpuClock::GpuClock(const std::string& bus) {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);  // stays open
  if (!library) return;
  const auto start = find<int()>(library, "nvmlInit_v2");
  const auto by_bus = find<int(const char*, void**)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
  const auto clock_of = find<int(void*, int, unsigned*)>(library, "nvmlDeviceGetClockInfo");
  if (!start || !by_bus || !clock_of || start() != 0 || by_bus(bus.c_str(), &device_) != 0) return;
  clock_of_ = clock_of;
}

std::optional<Hertz> GpuClock::now() const {
  unsigned megahertz = 0;
  if (!clock_of_ || clock_of_(device_, kProcessorClock, &megahertz) != 0) return std::nullopt;
  return Hertz(megahertz * 1e6);
}

}  // namespace kvplan
