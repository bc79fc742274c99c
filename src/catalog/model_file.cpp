// SPDX-License-Identifier: Apache-2.0
#include "catalog/model_file.h"

#include <filesystem>

#include "catalog/files.h"
#include "catalog/gguf.h"
#include "catalog/huggingface.h"
#include "catalog/model_path.h"
#include "catalog/safetensors.h"
#include "catalog/weights_section.h"
#include "error.h"

namespace kvplan {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Node& node, std::string_view key) {
  const Node* text = node.find(key);
  return text ? text->string().value_or("") : "";
}

std::optional<Node> tree_if_there(const fs::path& path) {
  std::error_code unreadable;  // links in a ring: as good as missing
  if (!fs::exists(path, unreadable)) return std::nullopt;
  return read_tree(path.string());
}

ModelSpec read_config(const std::string& path) {
  const Configuration found = read_configuration(path);
  ModelSpec model =
      read_huggingface(found.config, found.quantization ? &*found.quantization : nullptr);
  model.source = path;
  return model;
}

ModelSpec read(const ModelPath& found) {
  switch (found.kind) {
    case ModelPath::gguf:
      return read_gguf(found.path);
    case ModelPath::safetensors:
      return read_safetensors(found.path);
    case ModelPath::entry:
      return read_model(read_tree(found.path));
    case ModelPath::config:
      return read_config(found.path);
  }
  throw Error("kv-plan does not know this kind of file");
}

}  // namespace

ModelSpec read_model(const Node& file) {
  const Node *config = file.find("config"), *gguf = file.find("gguf"),
             *weights = file.find("weights");
  if (!config && !gguf)
    throw Error("a model file needs this part")
        .of("config")
        .at_line(file.line)
        .advise("Put the keys of config.json under `config:`.");
  if (!config && !weights)
    throw Error("a model in GGUF keys needs this part").of("weights").at_line(file.line);
  ModelSpec model =
      config ? read_huggingface(*config, file.find("quantization")) : read_gguf_keys(*gguf);
  if (weights) use_weights_section(model, *weights);
  model.name = text_of(file, "name");
  model.source = text_of(file, "source");
  if (const Node* said = file.find("unverified"); said && said->boolean().value_or(false))
    model.warnings.push_back(
        {std::string(kUnverifiedModel),
         "the shape of " + model.name + " was not checked against a published file or total"});
  return model;
}

Configuration read_configuration(const std::string& path) {
  const fs::path file(path);
  Configuration found{read_tree(path), std::nullopt};
  if (file.filename() == "config.json")
    found.quantization = tree_if_there(file.parent_path() / "hf_quant_config.json");
  return found;
}

ModelSpec read_model_at(const std::string& path) {
  const ModelPath found = model_path(path);
  try {
    ModelSpec model = read(found);
    const bool says_its_name = found.kind == ModelPath::gguf || found.kind == ModelPath::entry;
    if (!says_its_name || model.name.empty()) model.name = found.name;
    model.warnings.insert(model.warnings.begin(), found.warnings.begin(), found.warnings.end());
    return model;
  } catch (Error& e) {
    throw e.in(found.path);
  }
}

}  // namespace kvplan
