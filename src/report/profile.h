// SPDX-License-Identifier: Apache-2.0
// "fit": what a calibration found, and how wrong it is on shapes that it never saw.
#pragma once
#include "cost/profile.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

// The constants of its formula (cost/profile.h).
Object parameters_of(const Fit&);

template <>
inline constexpr auto description<Fit> = std::tuple{
    field("class", &Fit::op, "class"),
    field("format", &Fit::format, "format").where_it_varies(),
    field("width", &Fit::width, "head width").where_it_varies(),
    field("samples", &Fit::samples, "samples"),
    field("holdout_samples", &Fit::holdout_samples, "held out"),
    field("parameters", [](const Fit& f) { return parameters_of(f); }),
    field("bandwidth_share", &Fit::bandwidth_share, "of bandwidth").as(Show::percent),
    field("arithmetic_share", &Fit::arithmetic_share, "of peak").as(Show::percent),
    field("holdout_median_ape", &Fit::holdout_median_ape, "median error").as(Show::percent),
    field("holdout_p90_ape", &Fit::holdout_p90_ape, "90% within").as(Show::percent),
    field("coverage", &Fit::coverage, "in interval").as(Show::percent)};

}  // namespace kvplan
