// SPDX-License-Identifier: Apache-2.0
// What became of the rows of tables that were measured elsewhere, and whether their times can be.
#pragma once
#include <vector>

#include "calibrate/csv.h"
#include "cost/device.h"
#include "cost/profile.h"
#include "error.h"

namespace kvplan {

// Throws Error where times are so short that they can be no microseconds of this device.
void require_plausible(const MeasuredTable&, const DeviceSpec&);

// Rows that no fit took, rows to judge that no fit is there for, rows left out.
std::vector<Warning> remarks_on(const MeasuredTable& fitted, const MeasuredTable& judging,
                                const std::vector<Fit>&, const DeviceSpec&);

// Why there is no fit at all.
Error no_fit_of(const MeasuredTable&);

}  // namespace kvplan
