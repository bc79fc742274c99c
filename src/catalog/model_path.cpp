// SPDX-License-Identifier: Apache-2.0
#include "catalog/model_path.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "catalog/files.h"
#include "catalog/gguf.h"
#include "catalog/safetensors.h"

namespace kvplan {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig = "config.json";

// "org/name" is kept in models--org--name/snapshots/REVISION by huggingface_hub.
std::optional<std::string> name_in_hub(const fs::path& folder) {
  for (const fs::path& part : folder)
    if (const std::string text = part.string(); text.starts_with("models--"))
      return text.substr(text.rfind("--") + 2);
  return std::nullopt;
}

std::string name_of_folder(const fs::path& folder) {
  const fs::path whole = fs::weakly_canonical(folder);
  if (const auto name = name_in_hub(whole)) return *name;
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

// Files of generic names are told apart by their folder.
std::string name_of(const fs::path& file, ModelPath::Kind kind) {
  const std::string stem = file.stem().string();
  const bool generic = kind == ModelPath::safetensors || file.filename() == kConfig;
  const std::string folder =
      generic ? name_of_folder(fs::is_directory(file) ? file : file.parent_path()) : "";
  return folder.empty() ? stem : folder;
}

std::optional<ModelPath::Kind> kind_of(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".gguf") return ModelPath::gguf;
  if (extension == ".safetensors" || file.string().ends_with(".safetensors.index.json"))
    return ModelPath::safetensors;
  if (extension == ".yaml" || extension == ".yml") return ModelPath::entry;
  if (extension == ".json") return ModelPath::config;
  return std::nullopt;
}

// One file for each model in GGUF that a folder holds: the first part stands for a split one.
std::vector<std::string> gguf_models_in(const fs::path& folder) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string(), name = entry.path().filename().string();
    if (entry.path().extension() != ".gguf" || name.starts_with("mmproj")) continue;
    if (is_first_gguf(path)) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string gguf_model_in(const fs::path& folder) {
  const auto models = gguf_models_in(folder);
  if (models.size() == 1) return models.front();
  if (models.empty())
    throw Error("this folder holds no checkpoint, no config.json and no GGUF file")
        .advise("Name the file in it that describes the model.");
  throw Error("this folder holds " + std::to_string(models.size()) + " GGUF models")
      .advise("Name the one that is meant, such as " + models.front() + ".");
}

bool is_adapter(const std::string& name) { return name.starts_with("adapter_"); }

Error adapter_refused() {
  return Error("this is an adapter (LoRA), which changes a model and is none")
      .advise("Give the model that its adapter_config.json names as base_model_name_or_path.");
}

Error pickle_refused() {
  return Error("PyTorch's pickled weights are not read: opening them runs their code")
      .advise("Give the config.json beside them, or the model's safetensors or GGUF files.");
}

bool is_pickle(const fs::path& file) {
  for (const char* extension : {".bin", ".pt", ".pth", ".ckpt", ".pkl"})
    if (file.extension() == extension) return true;
  return file.string().ends_with(".bin.index.json");
}

void refuse_what_is_no_model(const fs::path& folder) {
  bool pickled = false;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (is_adapter(entry.path().filename().string())) throw adapter_refused();
    pickled = pickled || is_pickle(entry.path());
  }
  if (pickled) throw pickle_refused();
}

// The folder of the revision that huggingface_hub downloaded; several: the one that "main" is.
fs::path snapshot_in(const fs::path& folder) {
  std::vector<fs::path> revisions;
  for (const auto& entry : fs::directory_iterator(folder / "snapshots"))
    if (entry.is_directory()) revisions.push_back(entry.path());
  if (revisions.size() == 1) return revisions.front();
  if (fs::is_regular_file(folder / "refs" / "main")) {
    std::string main = read_text_file((folder / "refs" / "main").string());
    main.erase(std::min(main.find_first_of(" \r\n"), main.size()));
    for (const fs::path& revision : revisions)
      if (revision.filename() == main) return revision;
  }
  throw Error("this download holds " + std::to_string(revisions.size()) + " revisions")
      .advise("Name the folder of one, inside snapshots.");
}

ModelPath in_folder(const std::string& given) {
  const bool downloaded = fs::is_directory(fs::path(given) / "snapshots");
  const std::string folder = downloaded ? snapshot_in(given).string() : given;
  const bool configured = fs::exists(fs::path(folder) / kConfig);
  const Found checkpoint = find_safetensors(folder);
  if (checkpoint == Found::one)
    return {ModelPath::safetensors, folder, name_of(folder, ModelPath::safetensors), {}};
  if (!configured) {
    if (gguf_models_in(folder).empty()) refuse_what_is_no_model(folder);
    const std::string file = gguf_model_in(folder);
    return {ModelPath::gguf, file, name_of(file, ModelPath::gguf), {}};
  }
  const fs::path config = fs::path(folder) / kConfig;
  ModelPath found{ModelPath::config, config.string(), name_of(config, ModelPath::config), {}};
  if (checkpoint == Found::several)
    found.warnings.push_back({"checkpoint-not-read",
                              "the folder holds several safetensors files and no index that says "
                              "which belong together: weights are taken from the configuration"});
  return found;
}

}  // namespace

bool looks_like_path(std::string_view text) {
  std::error_code failure;
  if (fs::exists(text, failure)) return true;
  for (const std::string_view end : {".json", ".yaml", ".yml", ".gguf", ".safetensors", "/"})
    if (text.ends_with(end)) return true;
  return text.starts_with('/') || text.starts_with("./") || text.starts_with("../") ||
         text.starts_with('~');
}

ModelPath model_path(const std::string& given) {
  try {
    if (!fs::exists(given)) throw Error("there is no such file");
    if (fs::is_directory(given)) return in_folder(given);
    if (is_adapter(fs::path(given).filename().string())) throw adapter_refused();
    if (is_pickle(given)) throw pickle_refused();
    const auto kind = kind_of(given);
    if (!kind)
      throw Error("kv-plan does not know this kind of file")
          .advise(
              "Give a config.json, the folder that holds it, a .gguf, a .safetensors file or "
              "index, or a catalog .yaml.");
    return {*kind, given, name_of(given, *kind), {}};
  } catch (Error& e) {
    throw e.in(given);
  } catch (const fs::filesystem_error& e) {
    throw Error(e.code().message()).in(given);
  }
}

}  // namespace kvplan
