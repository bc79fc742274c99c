// SPDX-License-Identifier: Apache-2.0
// What the processors multiply and add at most: one kind of instruction after the other, in
// registers alone.
#pragma once
#include "kernels/backend.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/team.h"

namespace kvplan {

// The fastest of several undisturbed passes of about a millisecond; empty where `isa` has no such
// instruction.
std::optional<FlopsPerSecond> arithmetic_peak(Team&, Arithmetic, Isa);

}  // namespace kvplan
