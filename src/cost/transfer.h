// SPDX-License-Identifier: Apache-2.0
// A profile of one device, for a sibling that was not measured.
#pragma once
#include "cost/device.h"
#include "cost/profile.h"

namespace kvplan {

// The same laws with bandwidths, arithmetic and cache by the ratios of the datasheets, fixed costs
// as they are. Every band is widened by what such a transfer was measured to err.
Profile transferred(const Profile&, const DeviceSpec& from, const DeviceSpec& to);

}  // namespace kvplan
