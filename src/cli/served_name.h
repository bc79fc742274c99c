// SPDX-License-Identifier: Apache-2.0
// What an engine is told to serve: the path or repository that the user named, else the model's
// Hugging Face id, and for the llama.cpp family a GGUF file.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "catalog/catalog.h"

namespace kvplan {

// `weights` names the file where none was named: "llama-3.1-8b-q4_k_m.gguf".
std::string served_name(const Catalog&, std::string_view model, std::string_view engine,
                        const std::optional<std::string>& weights);

}  // namespace kvplan
