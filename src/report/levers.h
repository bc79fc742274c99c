// SPDX-License-Identifier: Apache-2.0
// "plan.levers" and "plan.background": what would help most, and what is at work already.
#pragma once
#include "plan/levers.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

std::string_view name_of(Lever::Kind);

template <>
inline constexpr auto description<Outcome> =
    std::tuple{field("fits", &Outcome::fits), field("users", &Outcome::users),
               field("tokens_per_second", &Outcome::tokens_per_second).as(Show::tokens_per_second),
               field("first_token_seconds", &Outcome::first_token)};

template <>
inline constexpr auto description<Lever> =
    std::tuple{field("name", &Lever::name, "lever"),
               field("kind", [](const Lever& l) { return name_of(l.kind); }),
               field("how", &Lever::how, "how"),
               field("helps", &Lever::helps),
               field("makes_it_fit", &Lever::makes_it_fit, "makes it fit").where_it_varies(),
               field("speed_gain", &Lever::speed_gain, "speed").as(Show::ratio),
               field("capacity_gain", &Lever::capacity_gain, "users").as(Show::ratio),
               field("first_token_gain", &Lever::first_token_gain, "first token").as(Show::ratio),
               field("after", &Lever::after),
               field("remark", &Lever::remark, "remark"),
               field("basis", &Lever::basis)};

}  // namespace kvplan
