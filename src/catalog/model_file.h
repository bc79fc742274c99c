// SPDX-License-Identifier: Apache-2.0
// Models from files: a catalog entry (name, aliases, source, released and `config:` with Hugging
// Face keys), a config.json with what lies beside it, a checkpoint. And back: the catalog entry of
// a configuration.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "catalog/node.h"
#include "model/spec.h"

namespace kvplan {

// Code of the warning on a catalog entry that says `unverified: true`.
inline constexpr std::string_view kUnverifiedModel = "unverified-model";

// A catalog entry.
ModelSpec read_model(const Node& file);

// config.json, its folder, .yaml, .gguf, .safetensors, .safetensors.index.json. Throws Error with
// the path.
ModelSpec read_model_at(const std::string& path);

// A configuration and hf_quant_config.json beside it, before they are understood.
struct Configuration {
  Node config;
  std::optional<Node> quantization;
};
Configuration read_configuration(const std::string& path);

}  // namespace kvplan
