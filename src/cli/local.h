// SPDX-License-Identifier: Apache-2.0
// `local` as a DEVICE: what the system says of this machine, and the datasheet of a part that it
// names.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "cost/device.h"
#include "plan/setup.h"

namespace kvplan {

bool is_local(std::string_view device);

// A device of the catalog, or this machine. `note` as Catalog::device has it.
DeviceSpec device_named(const Catalog&, std::string_view name, std::string* note = nullptr);

// This machine's processor and its memory, whatever GPUs it has.
DeviceSpec local_host(const Catalog&);

// Memory, processors and cache as probed; peaks and bandwidth of `part` where there is one, else
// unknown.
DeviceSpec with_datasheet(DeviceSpec probed, const std::optional<DeviceSpec>& part);
// The part that a system's own words name: "AMD EPYC 9654 96-Core Processor" has the words of
// epyc-9654. Empty for several sockets, whose sum no datasheet has.
std::optional<DeviceSpec> part_named_in(const Catalog&, const std::string& title);

// What was found here, for the list of assumptions.
Assumption about_host(const DeviceSpec&);
Assumption about_local(const DeviceSpec&);

}  // namespace kvplan
