// SPDX-License-Identifier: Apache-2.0
// "serving": requests per second of a server that is kept full.
#pragma once
#include <optional>

#include "plan/serving.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

struct ServingCeiling {
  double requests_per_second, tokens_per_second;
  Bound bound;
};
struct ServingExpected {
  double requests_per_second, requests_low, requests_high;
  double tokens_per_second, tokens_low, tokens_high;
  Seconds request;  // from arrival to the last token
  double coverage, prompt_share;
};
std::optional<ServingCeiling> ceiling_of(const Serving&);
std::optional<ServingExpected> expected_of(const Serving&);

template <>
inline constexpr auto description<ServingCeiling> =
    std::tuple{field("requests_per_second", &ServingCeiling::requests_per_second, "requests/s"),
               field("tokens_per_second", &ServingCeiling::tokens_per_second, "tok/s")
                   .as(Show::tokens_per_second),
               field("bound", &ServingCeiling::bound, "bound by").sparing(1)};

template <>
inline constexpr auto description<ServingExpected> =
    std::tuple{field("requests_per_second", &ServingExpected::requests_per_second),
               field("requests_per_second_low", &ServingExpected::requests_low),
               field("requests_per_second_high", &ServingExpected::requests_high),
               field("tokens_per_second", &ServingExpected::tokens_per_second, "tok/s")
                   .as(Show::tokens_per_second)
                   .between("low", "high")
                   .where_known(),
               field("low", &ServingExpected::tokens_low).as(Show::tokens_per_second),
               field("high", &ServingExpected::tokens_high).as(Show::tokens_per_second),
               field("request_seconds", &ServingExpected::request, "request").where_known(),
               field("prompt_share", &ServingExpected::prompt_share, "on prompts")
                   .as(Show::percent)
                   .where_known(),
               field("coverage", &ServingExpected::coverage)};

template <>
inline constexpr auto description<Serving> =
    std::tuple{field("input", [](const Serving& s) { return s.requests.input; }),
               field("output", [](const Serving& s) { return s.requests.output; }),
               field(
                   "users", [](const Serving& s) { return s.requests.users; }, "users"),
               field("fits", &Serving::fits, "fits"),
               field(
                   "ceiling", [](const Serving& s) { return ceiling_of(s); }, "at most"),
               field("least_request_seconds", &Serving::least, "request at least").sparing(2),
               field(
                   "expected", [](const Serving& s) { return expected_of(s); }, "expected")
                   .where_known()};

}  // namespace kvplan
