// SPDX-License-Identifier: Apache-2.0
#include "catalog/model_entry.h"

#include <filesystem>

#include "catalog/files.h"
#include "catalog/gguf.h"
#include "catalog/huggingface.h"
#include "catalog/model_file.h"
#include "catalog/model_path.h"
#include "catalog/weights_section.h"

namespace kvplan {
namespace {

namespace fs = std::filesystem;

void add_configuration(Node& file, const std::string& config_path) {
  const Configuration found = read_configuration(config_path);
  const Node* quantization = found.quantization ? &*found.quantization : nullptr;
  put(file, "config", keys_that_count(found.config, quantization));
  if (quantization) put(file, "quantization", *quantization);
}

std::string config_beside(const std::string& path) {
  const fs::path folder = fs::is_directory(path) ? fs::path(path) : fs::path(path).parent_path();
  return (folder / "config.json").string();
}

// What the keys alone do not say: how the file differs from them.
Node remarks(const ModelSpec& model, const ModelSpec& from_keys) {
  Node all = list();
  for (std::size_t i = from_keys.warnings.size(); i < model.warnings.size(); ++i) {
    Node one = map();
    put(one, "code", word(model.warnings[i].code));
    put(one, "message", word(model.warnings[i].message));
    all.items.push_back(std::move(one));
  }
  return all;
}

std::string origin(const ModelPath& found) {
  const std::string file = fs::path(found.path).lexically_normal().filename().string();
  return "imported from " + (file.empty() || file == "." ? found.name : file);
}

bool lacks_weights(const ModelSpec& model) {
  for (const Warning& w : model.warnings)
    if (w.code == "missing-shards") return true;
  return false;
}

}  // namespace

ModelEntry model_entry(const std::string& path) {
  const ModelPath found = model_path(path);
  if (found.kind == ModelPath::entry)
    throw Error("this is a catalog entry already").in(path).advise("Use it as it is.");
  const ModelSpec model = read_model_at(path);
  ModelEntry entry{map(), model.warnings};
  put(entry.file, "name", word(model.name));
  put(entry.file, "source", word(origin(found)));
  ModelSpec from_keys;
  if (found.kind == ModelPath::gguf) {
    put(entry.file, "gguf", gguf_keys_that_count(found.path));
    from_keys = read_gguf_keys(entry.file.members.back().value);
  } else {
    add_configuration(
        entry.file, found.kind == ModelPath::safetensors ? config_beside(found.path) : found.path);
    from_keys = read_model(entry.file);
  }
  if (found.kind == ModelPath::config || lacks_weights(model)) return entry;
  Node weights = weights_section(model);
  if (Node all = remarks(model, from_keys); !all.items.empty())
    put(weights, "remarks", std::move(all));
  put(entry.file, "weights", std::move(weights));
  return entry;
}

}  // namespace kvplan
