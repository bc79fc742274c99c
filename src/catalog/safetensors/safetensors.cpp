// SPDX-License-Identifier: Apache-2.0
#include "catalog/safetensors.h"

#include <filesystem>
#include <optional>

#include "catalog/files.h"
#include "catalog/huggingface.h"
#include "catalog/huggingface/keys.h"
#include "catalog/node.h"
#include "catalog/safetensors/compare.h"
#include "catalog/safetensors/packing.h"
#include "catalog/safetensors/shards.h"

namespace kvplan {
namespace {

using huggingface::Keys;

std::optional<Node> read_json(const std::string& path) {
  std::error_code unreadable;
  if (!std::filesystem::exists(path, unreadable)) return std::nullopt;
  return read_tree(path);
}

const Node* child(const Node* node, std::string_view key) {
  return node ? node->find(key) : nullptr;
}

// Bits and group of packed integers: quantization_config of AWQ and GPTQ, MLX's `quantization`, or
// the first group of compressed-tensors.
safetensors::PackHints hints_of(const std::optional<Node>& config) {
  safetensors::PackHints hints;
  if (!config) return hints;
  const Node* text = child(&*config, "text_config");
  for (const Node* place : {&*config, text})
    for (const std::string_view key : {"quantization_config", "quantization"}) {
      const Node* scheme = child(place, key);
      if (const Node* groups = child(scheme, "config_groups"); groups && !groups->members.empty())
        scheme = groups->members.front().value.find("weights");
      if (!scheme || scheme->kind != Node::map || hints.bits) continue;
      const Keys k(*scheme);
      hints.bits = k.integer({"bits", "num_bits", "w_bit"}, 1, 32);
      hints.group = k.integer({"group_size", "q_group_size"}, -1);
      if (hints.group && *hints.group < 1) hints.group.reset();
    }
  return hints;
}

struct Read {
  std::optional<Node> config;
  std::string folder;
  TensorTable table;
};

Read read(const std::string& path) {
  safetensors::Checkpoint checkpoint = safetensors::read_checkpoint(path);
  Read r;
  r.folder = checkpoint.folder;
  r.config = read_json(r.folder + "config.json");
  r.table.source = path;
  r.table.tensors = safetensors::unpack(std::move(checkpoint.tensors), hints_of(r.config));
  r.table.warnings = std::move(checkpoint.warnings);
  r.table.complete = checkpoint.complete;
  return r;
}

// A table of tensors needs no configuration that kv-plan understands.
std::optional<std::int64_t> layers_of(const std::optional<Node>& config) try {
  if (!config) return std::nullopt;
  const ModelSpec model = read_huggingface(*config);
  return static_cast<std::int64_t>(main_layers(model).size());
} catch (const Error&) {
  return std::nullopt;
}

ModelSpec read_model(const std::string& path) {
  Read r = read(path);
  if (!r.config)
    throw Error("there is no config.json beside the checkpoint")
        .advise("Layers and caches are described there: put it into the same folder.");
  const auto beside = read_json(r.folder + "hf_quant_config.json");
  ModelSpec model;
  try {
    model = read_huggingface(*r.config, beside ? &*beside : nullptr);
  } catch (Error& e) {
    throw e.in(r.folder + "config.json");
  }
  model.source = path;
  const ModelSpec configured = model;
  use_tensors(model, r.table);
  if (r.table.complete) {
    const auto differences = safetensors::compare(configured, model);
    model.warnings.insert(model.warnings.end(), differences.begin(), differences.end());
  }
  return model;
}

template <class F>
auto naming(const std::string& path, F read_it) {
  try {
    return read_it();
  } catch (Error& e) {
    throw e.in(path);
  }
}

}  // namespace

ModelSpec read_safetensors(const std::string& path) {
  return naming(path, [&] { return read_model(path); });
}

TensorTable read_safetensors_tensors(const std::string& path) {
  return naming(path, [&] {
    Read r = read(path);
    r.table.main_layers = layers_of(r.config);
    return std::move(r.table);
  });
}

}  // namespace kvplan
