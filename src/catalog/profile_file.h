// SPDX-License-Identifier: Apache-2.0
// A profile as YAML: what calibration writes, and what ships in configs/profiles.
#pragma once
#include <string>
#include <string_view>

#include "catalog/node.h"
#include "cost/profile.h"

namespace kvplan {

// Reads back to an equal profile.
std::string profile_text(const Profile&);

// A constant that its law gained later (Gained in cost/laws.h) may be missing. Throws Error (with
// line) for a file of another version, a law with any other constant missing, unknown or out of its
// range, or bands that are no intervals.
Profile read_profile(const Node&);

// The parts of its text above the laws, and above what was measured: nine tenths of a profile of
// this machine are samples, which no expectation needs.
std::string_view head_in(std::string_view profile);
std::string_view laws_in(std::string_view profile);

}  // namespace kvplan
