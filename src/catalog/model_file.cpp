// SPDX-License-Identifier: Apache-2.0
#include "catalog/model_file.h"

#include <filesystem>

#include "catalog/files.h"
#include "catalog/gguf.h"
#include "catalog/huggingface.h"
#include "catalog/safetensors.h"
#include "error.h"

namespace kvplan {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Node& node, std::string_view key) {
  const Node* text = node.find(key);
  return text ? text->string().value_or("") : "";
}

std::optional<Node> tree_if_there(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  return read_tree(path.string());
}

// "Llama-3.1-8B" for both Llama-3.1-8B/config.json and Llama-3.1-8B.json.
std::string name_of(const fs::path& path) {
  if (path.filename() != "config.json") return path.stem().string();
  const std::string folder = fs::absolute(path).parent_path().filename().string();
  return folder.empty() ? path.stem().string() : folder;
}

// The file that a path means: config.json of a folder, else the path itself.
fs::path file_meant(const std::string& path) {
  if (!fs::exists(path)) throw Error("there is no such file").in(path);
  if (!fs::is_directory(path)) return path;
  const fs::path config = fs::path(path) / "config.json";
  if (fs::exists(config)) return config;
  throw Error("this folder holds no config.json")
      .in(path)
      .advise("Name the file in it that describes the model.");
}

}  // namespace

ModelSpec read_model(const Node& file) {
  const Node* config = file.find("config");
  if (!config)
    throw Error("a model file needs this part")
        .of("config")
        .at_line(file.line)
        .advise("Put the keys of config.json under `config:`.");
  ModelSpec model = read_huggingface(*config, file.find("quantization"));
  model.name = text_of(file, "name");
  model.source = text_of(file, "source");
  return model;
}

Configuration read_configuration(const std::string& path) {
  const fs::path file = file_meant(path);
  Configuration found{name_of(file), read_tree(file.string()), std::nullopt};
  if (file.filename() == "config.json")
    found.quantization = tree_if_there(file.parent_path() / "hf_quant_config.json");
  return found;
}

ModelSpec read_model_at(const std::string& path) {
  const fs::path file = file_meant(path);
  try {
    // A file of another kind gets its reader here.
    if (file.extension() == ".gguf") return read_gguf(file.string());
    if (file.extension() == ".safetensors" || file.string().ends_with(".safetensors.index.json"))
      return read_safetensors(file.string());
    if (file.extension() == ".yaml" || file.extension() == ".yml")
      return read_model(read_tree(file.string()));
    if (file.extension() != ".json")
      throw Error("kv-plan does not know this kind of file")
          .advise(
              "Give a config.json, the folder that holds it, a .gguf, a .safetensors file or "
              "index, or a catalog .yaml.");
    const Configuration found = read_configuration(path);
    const Node* quantization = found.quantization ? &*found.quantization : nullptr;
    ModelSpec model = read_huggingface(found.config, quantization);
    model.name = found.name;
    model.source = file.string();
    return model;
  } catch (Error& e) {
    throw e.in(file.string());
  }
}

}  // namespace kvplan
