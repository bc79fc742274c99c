// SPDX-License-Identifier: Apache-2.0
// "model" and "deployment": what was asked about.
#pragma once
#include <string>

#include "model/parameters.h"
#include "plan/setup.h"
#include "report/names.h"
#include "report/record.h"

namespace kvplan {

template <>
inline constexpr auto description<Parameters> = std::tuple{
    field("total", &Parameters::total, "parameters"),
    field("active", &Parameters::active, "active"),
    field("embedding", &Parameters::embedding, "embedding").where_it_varies(),
    field("attention", &Parameters::attention, "attention").where_it_varies(),
    field("mlp", &Parameters::mlp, "MLP").where_it_varies(),
    field("experts", &Parameters::experts, "experts").where_it_varies(),
    field("norms", &Parameters::norms, "norms").where_it_varies(),
    field("vision", &Parameters::vision, "vision").where_it_varies(),
    field("encoders_apart", &Parameters::encoders_apart, "encoders, apart").where_it_varies(),
    field("mtp", &Parameters::mtp, "MTP").where_it_varies(),
    field("stored_copies", &Parameters::stored_copies),
    field("scales", &Parameters::scales)};

// The format that holds most of a role; "q4_k and others" where it is not the only one.
std::string format_of(const RoleBytes&);

template <>
inline constexpr auto description<RoleBytes> =
    std::tuple{field("role", &RoleBytes::role, "role"),
               field("parameters", &RoleBytes::parameters, "parameters"),
               field(
                   "format", [](const RoleBytes& r) { return format_of(r); }, "format"),
               field("mixed", &RoleBytes::mixed), field("bytes", &RoleBytes::bytes, "size")};

// How the main layers look at the past, in the field's words: "GQA-8", "MLA", "GQA-4 + mamba2",
// "GQA-8 + window". "GQA-8" has 8 KV heads. "none" where no layer does.
std::string attention_of(const ModelSpec&);

Object model_object(const ModelSpec&);  // weight formats applied
Object deployment_object(const Setup&);

}  // namespace kvplan
