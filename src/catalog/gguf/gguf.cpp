// SPDX-License-Identifier: Apache-2.0
#include "catalog/gguf.h"

#include <algorithm>
#include <filesystem>

#include "catalog/gguf/file.h"
#include "catalog/gguf/metadata.h"
#include "catalog/gguf/split.h"
#include "catalog/huggingface.h"

namespace kvplan {
namespace {

// Suffixes of what a module stores.
std::string_view module_of(std::string_view name) {
  for (const std::string_view suffix : {".weight", ".bias", ".scale", ".input_scale"})
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  return name;
}

// Scales of quantised matrices are tensors of their own; the router's is a weight (Gemma 4).
bool is_scale(std::string_view name) {
  return name.ends_with(".input_scale") ||
         (name.ends_with(".scale") && name.find("ffn_gate_inp") == name.npos);
}

void place(std::vector<Tensor>& tensors) {
  TensorPlaces places;
  for (Tensor& t : tensors) {
    t.place = places.of(module_of(t.name));
    const bool aid = is_scale(t.name) || (t.place.role && t.place.role->is_auxiliary);
    t.parameters = aid ? 0 : t.stored_elements;
  }
}

bool has_head(const std::vector<Tensor>& tensors) {
  for (const Tensor& t : tensors)
    if (t.name == "output.weight") return true;
  return false;
}

std::string name_of(const GgufFile& file, const std::string& path) {
  const Node* name = file.metadata.find("general.name");
  if (name && !name->text.empty()) return name->text;
  return std::filesystem::path(path).stem().string();
}

// Files from before ggml-org/llama.cpp#12801 (April 2025).
bool keeps_latents_whole(const gguf::Metadata& metadata, const std::vector<Tensor>& tensors) {
  return metadata.latent && metadata.known && metadata.known->cuts_latents &&
         std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& t) { return t.name.ends_with(".attn_kv_b.weight"); });
}

// A table of tensors needs no architecture that kv-plan understands.
std::optional<std::int64_t> main_layers_of(const GgufFile& file) try {
  std::vector<Warning> ignored;
  return gguf::read_metadata(file, ignored).mains();
} catch (const Error&) {
  return std::nullopt;
}

// Everything but weights.
ModelSpec described(const gguf::Metadata& metadata, const std::vector<Warning>& warnings) {
  ModelSpec model = read_huggingface(gguf::translate(metadata));
  model.warnings.insert(model.warnings.end(), warnings.begin(), warnings.end());
  model.model_type = metadata.known ? metadata.known->model_type : metadata.architecture;
  model.native = &format_named("fp16");
  gguf::apply_block_values(metadata, model);
  return model;
}

}  // namespace

ModelSpec model_of(GgufFile file, const std::string& path) {
  std::vector<Warning> warnings;
  const gguf::Metadata metadata = gguf::read_metadata(file, warnings);
  if (file.tensors.empty())
    throw Error("the file has no tensors: it holds keys and a vocabulary alone")
        .advise("Name the file that holds the weights.");
  ModelSpec model = described(metadata, warnings);
  model.name = name_of(file, path);
  model.source = path;
  model.tied_head = !has_head(file.tensors);
  if (keeps_latents_whole(metadata, file.tensors))
    model.warnings.push_back(
        {"old-latents",
         "the file is from before llama.cpp cached latents (April 2025): it keeps the keys and "
         "values of all heads instead; a newer conversion of the model needs far less"});
  TensorTable table;
  table.source = path;
  table.tensors = std::move(file.tensors);
  place(table.tensors);
  use_tensors(model, table, {metadata.experts_per_token, metadata.experts});
  return model;
}

ModelSpec read_gguf(const std::string& path) {
  try {
    return model_of(read_split_gguf(path), path);
  } catch (Error& e) {
    throw e.in(path);
  }
}

TensorTable read_gguf_tensors(const std::string& path) {
  try {
    TensorTable table;
    table.source = path;
    GgufFile file = read_split_gguf(path);
    table.main_layers = main_layers_of(file);
    table.tensors = std::move(file.tensors);
    place(table.tensors);
    return table;
  } catch (Error& e) {
    throw e.in(path);
  }
}

Node gguf_keys_that_count(const std::string& path) {
  try {
    return gguf::keys_that_count(read_split_gguf(path));
  } catch (Error& e) {
    throw e.in(path);
  }
}

ModelSpec read_gguf_keys(const Node& keys) {
  if (keys.kind != Node::map) throw Error("expected a map of keys").of("gguf").at_line(keys.line);
  GgufFile file;
  file.metadata = keys;
  std::vector<Warning> warnings;
  const gguf::Metadata metadata = gguf::read_metadata(file, warnings);
  return described(metadata, warnings);
}

}  // namespace kvplan
