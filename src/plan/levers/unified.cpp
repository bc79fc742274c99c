// SPDX-License-Identifier: Apache-2.0
// Memory that a GPU shares with its host: Metal lets a program have two thirds of it up to 32 GB
// and three quarters above, unless iogpu.wired_limit_mb says otherwise.
#include "plan/levers/ask.h"

namespace kvplan::lever {

void wired_limit(const Ask& ask, Levers& found) {
  constexpr Bytes kForTheSystem{8 * kGiB};
  const DeviceSpec& device = *ask.q.setup.device;
  if (device.vendor != "Apple" || device.kind != "soc") return;
  const Bytes most = device.memory_marketed.value - kForTheSystem;
  if (most <= device.memory.value) return;
  attempt(ask, found, "more memory for the GPU",
          "sudo sysctl iogpu.wired_limit_mb=" + std::to_string(most.n / kMiB),
          "leaves 8 GiB to the system", [&](Setup& s, Load&) {
            s.device->memory = {most, "iogpu.wired_limit_mb", false};
          });
}

}  // namespace kvplan::lever
