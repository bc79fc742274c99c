// SPDX-License-Identifier: Apache-2.0
// The CPU and memory of this machine, as the system reports them. A virtual machine may report the
// caches of its host.
#pragma once
#include "cost/device.h"

namespace kvplan {

DeviceSpec local_cpu();
// What can be allocated now without swapping, container limits included; empty when unknown.
std::optional<Bytes> available_memory();

}  // namespace kvplan
