// SPDX-License-Identifier: Apache-2.0
// "device": its datasheet with the sources.
#pragma once
#include <string>

#include "cost/device.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

template <>
inline constexpr auto description<Peak> =
    std::tuple{field("precision", &Peak::precision, "precision"),
               field(
                   "half_accumulate", [](const Peak& p) { return p.half_accumulate; }, "fp16 sums")
                   .where_it_varies(),
               field(
                   "flops_per_second", [](const Peak& p) { return p.rate.value; }, "peak"),
               field(
                   "unverified", [](const Peak& p) { return p.rate.unverified; }, "unverified")
                   .where_it_varies(),
               field(
                   "source", [](const Peak& p) { return p.rate.source; }, "source")};

template <>
inline constexpr auto description<Link> =
    std::tuple{field("kind", &Link::kind, "kind"),
               field(
                   "bytes_per_second_per_direction",
                   [](const Link& l) { return l.per_direction.value; }, "each way"),
               field("gpus", &Link::gpus, "joins"),
               field("source", [](const Link& l) { return l.per_direction.source; })};

template <>
inline constexpr auto description<Price> =
    std::tuple{field("usd_per_hour_low", &Price::usd_per_hour_low, "from").as(Show::usd),
               field("usd_per_hour_high", &Price::usd_per_hour_high, "to").as(Show::usd),
               field("where", &Price::where, "at"), field("date", &Price::date, "on")};

// Bandwidth and memory that are absent from a datasheet are zero in DeviceSpec; absent here.
template <class T>
std::optional<T> known(T quantity) {
  return quantity > T() ? std::optional(quantity) : std::nullopt;
}
template <class T>
std::optional<T> value_of(const std::optional<Fact<T>>& fact) {
  return fact ? std::optional(fact->value) : std::nullopt;
}

template <>
inline constexpr auto description<DeviceSpec> = std::tuple{
    field("name", &DeviceSpec::name, "name"),
    field("title", &DeviceSpec::title, "device"),
    field("vendor", &DeviceSpec::vendor),
    field("kind", &DeviceSpec::kind),
    field("architecture", &DeviceSpec::architecture, "architecture").where_it_varies(),
    field("year",
          [](const DeviceSpec& d) { return d.year ? value(*d.year, Show::plain) : Value{}; }),
    field(
        "memory_bytes", [](const DeviceSpec& d) { return known(d.memory.value); }, "memory"),
    field("memory_source", [](const DeviceSpec& d) { return d.memory.source; }),
    field("memory_marketed_bytes",
          [](const DeviceSpec& d) { return known(d.memory_marketed.value); }),
    field(
        "bandwidth_bytes_per_second", [](const DeviceSpec& d) { return known(d.bandwidth.value); },
        "bandwidth"),
    field(
        "bandwidth_source", [](const DeviceSpec& d) { return d.bandwidth.source; }, "source"),
    field(
        "bandwidth_unverified", [](const DeviceSpec& d) { return d.bandwidth.unverified; },
        "unverified")
        .where_it_varies(),
    field(
        "bandwidth_measured_bytes_per_second",
        [](const DeviceSpec& d) { return value_of(d.bandwidth_measured); }, "measured")
        .where_it_varies(),
    field("last_level_cache_bytes",
          [](const DeviceSpec& d) { return value_of(d.last_level_cache); }),
    field("peer", &DeviceSpec::peer, "GPU link").where_it_varies(),
    field("host", &DeviceSpec::host, "host link").where_it_varies(),
    field("watts", &DeviceSpec::watts),
    field("price", &DeviceSpec::price, "price").where_it_varies(),
    field("processors", &DeviceSpec::processors),
    field("compute_capability", &DeviceSpec::compute_capability),
    field("peaks", &DeviceSpec::peaks)};

}  // namespace kvplan
