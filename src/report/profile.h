// SPDX-License-Identifier: Apache-2.0
// "fit": what a calibration found, and how wrong it is on shapes that it never saw.
#pragma once
#include "cost/profile.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

// The constants of its law (cost/laws.h).
Object parameters_of(const Fit&);
// One of them; empty where the law has none of this name.
std::optional<double> parameter(const Fit&, std::string_view name);
template <class Quantity>
std::optional<Quantity> constant(const Fit& f, std::string_view name) {
  const auto found = parameter(f, name);
  return found ? std::optional(Quantity(*found)) : std::nullopt;
}
// On the table given to judge, else on values left out in turn.
std::optional<Quality> judged(const Fit&);
template <auto member>
auto judged_by(const Fit& f) {
  const auto quality = judged(f);
  return quality ? std::optional(*quality.*member) : std::nullopt;
}

template <>
inline constexpr auto description<Profile> =
    std::tuple{field("device", &Profile::device, "device"),
               field("title", &Profile::title, "title"),
               field("machine", &Profile::machine, "machine"),
               field("origin", &Profile::origin, "measured by"),
               field("licence", &Profile::licence, "licence"),
               field("date", &Profile::date, "date"),
               field("stream_read_bytes_per_second", &Profile::stream_read, "read"),
               field("stream_copy_bytes_per_second", &Profile::stream_copy, "copy"),
               field("launch_seconds", &Profile::launch, "launch")};

template <>
inline constexpr auto description<Fit> = std::tuple{
    field("class", &Fit::op, "class"),
    field("format", &Fit::format, "format").where_it_varies(),
    field("variant", &Fit::variant, "variant").where_it_varies(),
    field("samples", &Fit::samples, "samples"),
    field("holdout_samples", judged_by<&Quality::samples>, "held out"),
    field("parameters", [](const Fit& f) { return parameters_of(f); }),
    field(
        "floor_seconds", [](const Fit& f) { return constant<Seconds>(f, "floor_seconds"); },
        "floor"),
    field(
        "bytes_per_second",
        [](const Fit& f) { return constant<BytesPerSecond>(f, "bytes_per_second"); }, "reads at"),
    field(
        "flops_per_second",
        [](const Fit& f) { return constant<FlopsPerSecond>(f, "flops_per_second"); },
        "computes at"),
    field("holdout_median_ape", judged_by<&Quality::median_ape>, "median error").as(Show::percent),
    field("holdout_p90_ape", judged_by<&Quality::p90_ape>, "90% within").as(Show::percent),
    field("coverage", judged_by<&Quality::coverage>, "in interval").as(Show::percent)};

}  // namespace kvplan
