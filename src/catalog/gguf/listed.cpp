// SPDX-License-Identifier: Apache-2.0
// The metadata of a GGUF file as llama.cpp's loader lists it in its log (llama_model_loader: - kv):
// scalars whole, arrays by their first items.
#include <algorithm>

#include "catalog/gguf.h"
#include "catalog/gguf/metadata.h"
#include "catalog/huggingface.h"

namespace kvplan {
namespace {

Node scalar(std::string_view text) {
  Node node;
  node.kind = Node::scalar;
  node.text = text;
  node.quoted = text != "true" && text != "false" &&
                (text.empty() || text.find_first_not_of("0123456789.-+e") != text.npos);
  return node;
}

// "[8, 8, 4]"; nothing where "..." stands for the rest.
std::optional<Node> list(std::string_view text) {
  if (!text.starts_with('[') || !text.ends_with(']') || text.find("...") != text.npos)
    return std::nullopt;
  text = text.substr(1, text.size() - 2);
  Node node;
  node.kind = Node::list;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    node.items.push_back(scalar(item));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return node;
}

// "arr[str,128256]=[…" → 128256
std::optional<std::int64_t> length_of(std::string_view text) {
  const std::size_t comma = text.find(','), end = text.find(']');
  if (comma == text.npos || end == text.npos || end < comma) return std::nullopt;
  return scalar(text.substr(comma + 1, end - comma - 1)).integer();
}

void add(GgufFile& file, const std::string& key, std::string_view text) {
  if (!text.starts_with("arr[")) {
    file.metadata.members.emplace_back(key, scalar(text));
    return;
  }
  if (key == "tokenizer.ggml.tokens") file.vocabulary = length_of(text);
  if (key.starts_with("tokenizer.") || key.starts_with("general.")) return;
  const auto items = list(text.substr(std::min(text.find('=') + 1, text.size())));
  if (!items)
    throw Error("the log shows only its first items")
        .of(key)
        .advise("Name the MODEL: a catalog name, or the file itself.");
  file.metadata.members.emplace_back(key, *items);
}

}  // namespace

ModelSpec read_gguf_listing(const std::map<std::string, std::string>& keys) {
  GgufFile file;
  file.metadata.kind = Node::map;
  for (const auto& [key, text] : keys) add(file, key, text);
  std::vector<Warning> warnings;
  const gguf::Metadata metadata = gguf::read_metadata(file, warnings);
  ModelSpec model = read_huggingface(gguf::translate(metadata));
  model.warnings = std::move(warnings);
  const Node* name = file.metadata.find("general.name");
  model.name = name && !name->text.empty() ? name->text : metadata.architecture;
  model.source = "the metadata that the log lists";
  model.model_type = metadata.known ? metadata.known->model_type : metadata.architecture;
  gguf::apply_block_values(metadata, model);
  // Formats of tensors are not listed one by one.
  for (Layer& layer : model.layers) layer.weights.clear();
  model.ends.clear();
  return model;
}

}  // namespace kvplan
