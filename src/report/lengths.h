// SPDX-License-Identifier: Apache-2.0
// "plan.lengths": requests of a trace, and what reserving cache for them wastes.
#pragma once
#include <string>

#include "plan/lengths.h"
#include "report/record.h"

namespace kvplan {

template <>
inline constexpr auto description<LengthSummary> =
    std::tuple{field("requests", &LengthSummary::requests, "requests"),
               field("too_long", &LengthSummary::too_long, "longer than accepted"),
               field("mean_input", &LengthSummary::mean_input, "input, mean").as(Show::tokens),
               field("mean_output", &LengthSummary::mean_output, "output, mean").as(Show::tokens),
               field("median_tokens", &LengthSummary::median, "whole request, median"),
               field("p90_tokens", &LengthSummary::p90, "90 % are at most"),
               field("p99_tokens", &LengthSummary::p99, "99 % are at most"),
               field("longest_tokens", &LengthSummary::longest, "longest"),
               field("reserved_tokens", &LengthSummary::reserved),
               field("running_tokens", &LengthSummary::running, "held while running, mean")};

// A reservation with the words for it.
struct ReservationRow {
  std::string name;
  Reservation reservation;
};
template <>
inline constexpr auto description<ReservationRow> = std::tuple{
    field("name", &ReservationRow::name, "cache reserved"),
    field(
        "waste", [](const ReservationRow& r) { return r.reservation.waste; }, "never written")
        .as(Show::percent),
    field(
        "bytes_per_request",
        [](const ReservationRow& r) { return r.reservation.bytes_per_request; }, "per request"),
    field(
        "requests", [](const ReservationRow& r) { return r.reservation.requests; }, "at once")
        .where_it_varies()};

}  // namespace kvplan
