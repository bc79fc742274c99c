// SPDX-License-Identifier: Apache-2.0
// The clock of a GPU's processors, from the driver's management library (NVML), opened at run time.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "units.h"

namespace kvplan {

class GpuClock {
 public:
  // `bus` as the driver writes it: "00000000:65:00.0".
  explicit GpuClock(const std::string& bus);
  // Empty where the library or the figure is missing.
  std::optional<Hertz> now() const;

 private:
  void* device_ = nullptr;
  int (*clock_of_)(void*, int, unsigned*) = nullptr;
};

}  // namespace kvplan
