// SPDX-License-Identifier: Apache-2.0
// Memory that its owner put beside a processor: channels x transfer rate x 8 bytes.
#pragma once
#include "catalog/device_name.h"
#include "catalog/node.h"
#include "cost/device.h"

namespace kvplan {

// Gives a CPU the modules and the size that were typed with its name; other devices stay as they
// are. Channels that were not typed are those that the file's bandwidth and memory type imply.
void fit_memory(DeviceSpec&, const TypedDevice&, const Node& file);

// Whether a generic computer was typed as its modules alone; then it is named after them: "8
// channels of DDR5-4800, 256 GiB". Its bandwidth must be theirs already.
bool is_kit_alone(const DeviceSpec&, const TypedDevice&);
void name_after_kit(DeviceSpec&, const TypedDevice&);

}  // namespace kvplan
