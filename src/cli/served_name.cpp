// SPDX-License-Identifier: Apache-2.0
#include "cli/served_name.h"

#include <filesystem>

#include "catalog/model_name.h"
#include "catalog/model_path.h"
#include "model/average.h"

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

// "-q4_k_m.gguf"; a mix that is known by its size or average has no name of its own.
std::string ending(const std::string& weights) {
  return (is_by_size(weights) ? "" : "-" + weights.substr(0, weights.find(','))) + ".gguf";
}

// The file that a name of a repository or a tag stands for.
std::string file_of(std::string_view typed, const std::optional<std::string>& weights) {
  const TypedModel model = typed_model(typed);
  const std::string format = weights.value_or(model.weights.empty() ? "f16" : model.weights);
  return (model.names.empty() ? std::string(typed) : model.names.front()) + ending(format);
}

bool is_what_a_tag_has(std::string_view typed, const std::optional<std::string>& weights) {
  const TypedModel model = typed_model(typed);
  const std::string own = model.weights.empty() ? std::string(kUsualFileType) : model.weights;
  return model.is_tag && weights.value_or(own) == own;
}

}  // namespace

std::string served_name(const Catalog& catalog, std::string_view model, std::string_view engine,
                        const std::optional<std::string>& weights) {
  const bool gguf = engine == "llama.cpp" || engine == "ollama";
  // ollama's library has what a tag names, in the weights that it names.
  if (engine == "ollama" && !looks_like_path(model) && is_what_a_tag_has(model, weights))
    return std::string(model);
  if (const auto entry = catalog.find("models", model))
    return gguf ? entry->name + ending(weights.value_or("f16")) : id_of(catalog, entry->name);
  const std::filesystem::path path(model);
  if (!looks_like_path(model)) return gguf ? file_of(model, weights) : std::string(model);
  if (gguf || std::filesystem::is_directory(path)) return std::string(model);
  return path.has_parent_path() ? path.parent_path().string() : ".";
}

}  // namespace kvplan
