// SPDX-License-Identifier: Apache-2.0
// "plan.levers": what would help most, each a real evaluation.
#pragma once
#include "plan/levers.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

template <>
inline constexpr auto description<Outcome> =
    std::tuple{field("fits", &Outcome::fits), field("users", &Outcome::users),
               field("tokens_per_second", &Outcome::tokens_per_second).as(Show::tokens_per_second)};

template <>
inline constexpr auto description<Lever> =
    std::tuple{field("name", &Lever::name, "lever"),
               field("how", &Lever::how, "how"),
               field("helps", &Lever::helps, "helps"),
               field("makes_it_fit", &Lever::makes_it_fit, "makes it fit").where_it_varies(),
               field("speed_gain", &Lever::speed_gain, "speed").as(Show::ratio),
               field("capacity_gain", &Lever::capacity_gain, "users").as(Show::ratio),
               field("after", &Lever::after),
               field("remark", &Lever::remark, "remark"),
               field("basis", &Lever::basis)};

}  // namespace kvplan
