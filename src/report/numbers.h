// SPDX-License-Identifier: Apache-2.0
// The one place that decides how a number looks: capacity in GiB (2^30), rates in GB/s (10^9).
#pragma once
#include <cstdint>
#include <string>

#include "report/document.h"

namespace kvplan {

constexpr std::string_view kAbsent = "–";

std::string shown(std::int64_t, Show);
std::string shown(double, Show);  // not finite: kAbsent

// Any value as a person reads it: kAbsent, "yes", "14.96 GiB", "a, b".
std::string shown(const Value&);

}  // namespace kvplan
