// SPDX-License-Identifier: Apache-2.0
// "plan.ladder": what each weight format allows.
#pragma once
#include "plan/ladder.h"
#include "report/record.h"

namespace kvplan {

template <>
inline constexpr auto description<Rung> =
    std::tuple{field("weights", &Rung::recipe, "weights"),
               field("weight_bytes", &Rung::weight_bytes, "size"),
               field("fits", &Rung::fits, "fits"),
               field("max_context", &Rung::max_context, "longest context"),
               field("max_batch", &Rung::max_batch, "users"),
               field("tokens_per_second", &Rung::tokens_per_second, "tok/s at most")
                   .as(Show::tokens_per_second)};

}  // namespace kvplan
