// SPDX-License-Identifier: Apache-2.0
// A recipe gives every weight its format: "config" (what the checkpoint says), one format for all
// matrices ("int4-g128"), an engine's file type with per-tensor rules ("q4_k_m", "mxfp4_moe"), an
// average width ("4.65bpw"), or any of these with exceptions ("q4_k_m,head=q8_0").
#pragma once
#include <string_view>

#include "model/spec.h"

namespace kvplan {

// Returns the model with Weight::format set everywhere. "config" keeps the formats that the reader
// found. Throws Error on unknown recipes, roles and formats, with the near miss as advice.
ModelSpec apply_recipe(ModelSpec, std::string_view recipe);
std::vector<std::string_view> recipe_names();

}  // namespace kvplan
