// SPDX-License-Identifier: Apache-2.0
// From the samples of a session to a profile of the device.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "calibrate/session.h"
#include "cost/profile.h"

namespace kvplan {

// What a plan can ask for; empty for streams and launches.
std::optional<Shape> shape_of(const Problem&);
// Medians, with the raw samples. Shapes of which most samples were disturbed are left out, unless
// too few of their class would remain for a fit.
std::vector<Measured> measured_of(const Session&);
// All but date and version, which the caller knows.
Profile profile_of(const Session&, std::uint64_t seed);

}  // namespace kvplan
