// SPDX-License-Identifier: Apache-2.0
// "plan.layouts": ways to lay the model out, and "plan.limits": how far a load could go.
#pragma once
#include <string>

#include "plan/layouts.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

std::string text_of(const Parallelism&);  // "TP 4 x PP 2"; "1 GPU"
std::string_view name_of(LayoutRow::Verdict);
std::string remark_of(const LayoutRow&);

// One thing that a load could be, or that could be set for it.
struct Limit {
  std::string name, value, meaning;
};
template <>
inline constexpr auto description<Limit> =
    std::tuple{field("name", &Limit::name, "limit"), field("value", &Limit::value, "value"),
               field("meaning", &Limit::meaning, "meaning")};

template <>
inline constexpr auto description<LayoutRow> = std::tuple{
    field(
        "gpus", [](const LayoutRow& r) { return r.layout.gpus(); }, "GPUs"),
    field(
        "layout", [](const LayoutRow& r) { return text_of(r.layout); }, "layout"),
    field("tp", [](const LayoutRow& r) { return r.layout.tp; }),
    field("pp", [](const LayoutRow& r) { return r.layout.pp; }),
    field("dp", [](const LayoutRow& r) { return r.layout.dp; }),
    field("ep", [](const LayoutRow& r) { return r.layout.ep; }),
    field("weight_bytes_per_gpu", &LayoutRow::weights, "weights"),
    field("kv_pool_bytes_per_gpu", &LayoutRow::pool, "cache"),
    field("users", &LayoutRow::users, "users"),
    field("tokens_per_second_one_user", &LayoutRow::one_user, "alone").as(Show::tokens_per_second),
    field("tokens_per_second_each", &LayoutRow::tokens_per_second_each, "each")
        .as(Show::tokens_per_second),
    field("tokens_per_second", &LayoutRow::tokens_per_second, "all").as(Show::tokens_per_second),
    field("bound", &LayoutRow::bound, "bound by").where_it_varies(),
    field("verdict", [](const LayoutRow& r) { return name_of(r.verdict); }),
    field("is_this_plan", &LayoutRow::own),
    field("remark", remark_of, "remark")};

}  // namespace kvplan
