// SPDX-License-Identifier: Apache-2.0
// "breakdown": a step or a prompt by operator, each against the device's ridge.
#pragma once
#include "cost/breakdown.h"
#include "report/record.h"

namespace kvplan {

template <>
inline constexpr auto description<Portion> =
    std::tuple{field("what", &Portion::what, "operator"),
               field(
                   "format",
                   [](const Portion& p) {
                     return p.format ? std::optional(std::string(p.format->name)) : std::nullopt;
                   },
                   "format"),
               field("bytes", &Portion::bytes, "bytes"),
               field("flops", &Portion::flops, "flops"),
               field(
                   "intensity", [](const Portion& p) { return p.intensity(); }, "flops per byte"),
               field("ridge", &Portion::ridge, "ridge"),
               field("memory_seconds", &Portion::memory, "memory"),
               field("arithmetic_seconds", &Portion::arithmetic, "arithmetic")};

}  // namespace kvplan
