// SPDX-License-Identifier: Apache-2.0
// "plan.stored", "plan.crossings" and "plan.transfers": what a layout copies, sends and could move.
#pragma once
#include "plan/replication.h"
#include "report/record.h"

namespace kvplan {

std::string_view name_of(Crossing::Kind);
std::string_view name_of(Transfer::Path);

template <>
inline constexpr auto description<StoredPart> = std::tuple{
    field("what", &StoredPart::what, "part"), field("once_bytes", &StoredPart::once, "needed once"),
    field("per_gpu_bytes", &StoredPart::per_gpu, "on one GPU"),
    field("all_bytes", &StoredPart::all, "on all GPUs"),
    field("copies", &StoredPart::copies, "stored").as(Show::ratio)};

template <>
inline constexpr auto description<Crossing> =
    std::tuple{field(
                   "kind", [](const Crossing& c) { return name_of(c.kind); }, "traffic"),
               field("times", &Crossing::times, "times a step"),
               field("bytes", &Crossing::bytes, "into one GPU"),
               field("seconds", &Crossing::seconds, "at the link's peak"),
               field("ceiling_bytes", &Crossing::least, "of it in the ceiling")};

template <>
inline constexpr auto description<Transfer> = std::tuple{
    field(
        "path", [](const Transfer& t) { return name_of(t.path); }, "path"),
    field("link", &Transfer::link, "link"), field("bytes_per_gpu", &Transfer::bytes, "per GPU"),
    field("seconds", &Transfer::seconds, "at least")};

}  // namespace kvplan
