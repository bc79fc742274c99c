// SPDX-License-Identifier: Apache-2.0
// "kv": the cache by group and by load.
#pragma once
#include "plan/kv.h"
#include "report/record.h"

namespace kvplan {

template <>
inline constexpr auto description<GroupRow> = std::tuple{
    field("kind", &GroupRow::kind, "kind"),
    field("layers", &GroupRow::layers, "layers"),
    field("readers", &GroupRow::readers, "read by").where_it_varies(),
    field("bytes_per_token", &GroupRow::bytes_per_token, "per token").as(Show::bytes),
    field("window", &GroupRow::window, "window").where_it_varies(),
    field("ratio", &GroupRow::ratio, "tokens per entry").where_it_varies(),
    field("read_limit", &GroupRow::read_limit, "entries read").where_it_varies(),
    field("bytes_per_sequence", &GroupRow::bytes_per_sequence, "per sequence").where_it_varies()};

template <>
inline constexpr auto description<KvRow> =
    std::tuple{field("context", &KvRow::context, "context"),
               field("batch", &KvRow::batch, "batch"),
               field("bytes", &KvRow::bytes, "reserved"),
               field("bytes_per_gpu", &KvRow::bytes_per_gpu, "per GPU").unless_same_as("bytes"),
               field("ideal_bytes", &KvRow::ideal_bytes, "needed").unless_same_as("bytes"),
               field("read_bytes_per_step", &KvRow::read_bytes_per_step, "read per step")
                   .unless_same_as("bytes")};

template <>
inline constexpr auto description<KvAnswer> = std::tuple{
    field("bytes_per_token", &KvAnswer::bytes_per_token, "growth per token").as(Show::bytes),
    field("bytes_per_token_per_gpu", &KvAnswer::bytes_per_token_per_gpu, "growth per token and GPU")
        .unless_same_as("bytes_per_token")
        .as(Show::bytes),
    field("bytes_per_sequence", &KvAnswer::bytes_per_sequence, "fixed per sequence")
        .where_it_varies(),
    field("groups", &KvAnswer::groups), field("rows", &KvAnswer::rows)};

}  // namespace kvplan
