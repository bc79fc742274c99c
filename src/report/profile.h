// SPDX-License-Identifier: Apache-2.0
// "fit": what a calibration found, and how wrong it is on shapes that it never saw.
#pragma once
#include "cost/profile.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

// "bf16", "all_reduce NCCL", "fp8 balanced".
std::string subject_of(const Fit&);
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
// Absent rather than empty.
inline std::optional<std::string> said(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
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
    field("of", subject_of, "of"),
    field("format", [](const Fit& f) { return said(f.format); }),
    field("variant", [](const Fit& f) { return said(f.variant); }),
    field("samples", &Fit::samples, "samples"),
    field("holdout_samples", judged_by<&Quality::samples>),
    field("parameters", parameters_of),
    field(
        "bytes_per_second",
        [](const Fit& f) { return constant<BytesPerSecond>(f, "bytes_per_second"); }, "reads at"),
    field("holdout_median_ape", judged_by<&Quality::median_ape>, "median error").as(Show::percent),
    field("holdout_p90_ape", judged_by<&Quality::p90_ape>, "90% within").as(Show::percent),
    field("coverage", judged_by<&Quality::coverage>, "in interval").as(Show::percent)};

}  // namespace kvplan
