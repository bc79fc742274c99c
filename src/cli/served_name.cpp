// SPDX-License-Identifier: Apache-2.0
#include "cli/served_name.h"

#include <filesystem>

namespace kvplan {
namespace {

// "openai/gpt-oss-120b" among the names of an entry.
std::string id_of(const Catalog& catalog, const std::string& name) {
  for (const CatalogEntry& entry : catalog.entries("models"))
    if (entry.name == name)
      for (const std::string& alias : entry.aliases)
        if (alias.find('/') != std::string::npos) return alias;
  return name;
}

}  // namespace

std::string served_name(const Catalog& catalog, std::string_view model, std::string_view engine,
                        const std::optional<std::string>& weights) {
  const bool gguf = engine == "llama.cpp" || engine == "ollama";
  if (const auto entry = catalog.find("models", model))
    return gguf ? entry->name + "-" + weights.value_or("f16") + ".gguf"
                : id_of(catalog, entry->name);
  const std::filesystem::path path(model);
  if (gguf || std::filesystem::is_directory(path)) return std::string(model);
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

}  // namespace kvplan
