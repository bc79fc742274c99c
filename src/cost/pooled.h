// SPDX-License-Identifier: Apache-2.0
// Arithmetic that several devices share out among themselves as they like.
#pragma once
#include <optional>
#include <span>

#include "cost/device.h"
#include "model/format.h"
#include "units.h"

namespace kvplan {

// Work of one kind of operand.
struct Demanded {
  const Format* format = nullptr;
  double flops = 0;
};
// At least the time in which all devices together can do the work, whoever does which part of it.
// By duality of linear programs any l_f >= 0 bounds it: t >= sum l_f F_f / sum_p max_f l_f peak_pf,
// f the formats and p the devices. Taken are the reciprocal peaks of each device in turn. Absent
// where a peak is.
std::optional<Seconds> pooled_arithmetic(std::span<const Demanded>,
                                         std::span<const DeviceSpec* const>);

}  // namespace kvplan
