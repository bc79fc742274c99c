// SPDX-License-Identifier: Apache-2.0
// A device's YAML file → DeviceSpec. configs/README.md describes the keys.
#pragma once
#include <string_view>

#include "catalog/node.h"
#include "cost/device.h"

namespace kvplan {

// `marketed` picks one of memory.sizes ("64 GiB"); empty: the size that the file describes. Throws
// Error (with line and key) for an unknown key, a unit that does not fit, and a number that has
// neither a source nor the remark `unverified: true`.
DeviceSpec read_device(const Node& file, std::string_view marketed = {});

}  // namespace kvplan
