// SPDX-License-Identifier: Apache-2.0
#include "catalog/huggingface.h"

#include <algorithm>

#include "catalog/huggingface/draft.h"
#include "catalog/huggingface/irrelevant.h"

namespace kvplan {
namespace {

using namespace huggingface;

// The text model's keys may be nested in a multimodal configuration.
const Node& text_config(const Node& config) {
  for (const std::string_view name :
       {"text_config", "language_config", "llm_config", "thinker_config"})
    if (const Node* inner = config.find(name); inner && inner->kind == Node::map)
      return name == "thinker_config" ? text_config(*inner) : *inner;
  return config;
}

std::string model_type_of(const Node& config) {
  const Node* type = config.find("model_type");
  if (!type || type->kind != Node::scalar)
    throw Error("the configuration has no model_type")
        .of("model_type")
        .advise("Give a Hugging Face config.json, or name the family in model_type.");
  return type->text;
}

const Family& family_of(const Node& config, const Node& text) {
  const std::string type = model_type_of(config);
  if (const Family* family = find_family(type)) return *family;
  const Node* inner = text.find("model_type");
  if (inner)
    if (const Family* family = find_family(inner->text)) return *family;
  throw Error("model_type '" + type + "' is not known to kv-plan")
      .of("model_type")
      .advise(
          "`kv-plan models` lists the families; for an ordinary decoder set model_type to 'llama' "
          "or 'qwen3' in a copy.");
}

// LLaVA's first configurations rely on LlamaConfig's defaults for everything but the vocabulary.
Node with_class_defaults(const Node& text, const Family& family) {
  Node filled = text;
  if (family.model_type != "llava" || text.find("hidden_size")) return filled;
  for (const auto& [key, value] : {std::pair{"hidden_size", "4096"},
                                   {"intermediate_size", "11008"},
                                   {"num_hidden_layers", "32"},
                                   {"num_attention_heads", "32"}}) {
    Node number;
    number.kind = Node::scalar;
    number.text = value;
    filled.members.emplace_back(key, number);
  }
  return filled;
}

bool is_tied(const Draft& d) {
  if (d.top.has({"tie_word_embeddings"})) return d.top.flag({"tie_word_embeddings"});
  return d.keys.flag({"tie_word_embeddings"}, d.family.tied);
}

void add_ends(Draft& d) {
  Weights& ends = d.model.ends;
  Weight table;
  table.name = "embed_tokens";
  table.role = Role::embedding;
  table.rows = d.vocabulary;
  table.columns = d.hidden;
  table.sharding = Sharding::split;
  table.is_matrix = false;
  ends.push_back(table);
  if (d.family.extra_positions >= 0 && d.model.max_context) {
    table.name = "embed_positions";
    table.rows = checked_add(d.model.max_context->n, d.family.extra_positions);
    table.sharding = Sharding::replicated;
    ends.push_back(table);
  }
  if (d.family.embedding_norm) add_norm(d, ends, "embed_layernorm", d.hidden);
  add_norm(d, ends, "norm", d.hidden);
  d.model.tied_head = is_tied(d);
  if (!d.model.tied_head) add_matrix(ends, "lm_head", Role::head, d.vocabulary, d.hidden);
  if (d.family.head_bias || d.keys.flag({"lm_head_bias"}))
    add_vector(ends, "lm_head.bias", Role::head, d.vocabulary);
}

// Every key that nobody read is either known not to bear on memory or speed, or named in a warning;
// where its name sounds like memory it is refused.
void account_for_unread_keys(Draft& d) {
  for (const std::string& key : d.keys.unread()) {
    if (is_irrelevant(key)) continue;
    if (sounds_like_memory(key))
      throw Error("this key may bear on memory and kv-plan does not know what it means here")
          .of(key)
          .at_line(d.keys.node().find(key)->line)
          .advise(
              "Remove it in a copy of the configuration if it does not change the cache or the "
              "weights.");
    d.model.warnings.push_back({"unread-key", "configuration key '" + key + "' was not used"});
  }
}

const Format* native_format(const Draft& d) {
  std::string name = d.keys.text({"torch_dtype", "dtype"});
  if (name.empty()) name = d.top.text({"torch_dtype", "dtype"}, "bfloat16");
  const Format* format = find_format(name);
  return format ? format : &format_named("bf16");
}

}  // namespace

ModelSpec read_huggingface(const Node& config, const Node* quantization) {
  if (config.kind != Node::map) throw Error("expected a map of keys").at_line(config.line);
  const Node& text = text_config(config);
  const Family& family = family_of(config, text);
  const Node filled = with_class_defaults(text, family);
  ModelSpec model;
  Draft d{config, Keys(config), Keys(filled), family, model};
  model.model_type = model_type_of(config);
  model.name = model.model_type;
  read_widths(d);
  model.native = native_format(d);
  for (std::int64_t i = 0; i < d.layers; ++i) {
    Layer layer;
    (family.layer ? family.layer : decoder_layer)(d, i, layer);
    model.layers.push_back(std::move(layer));
  }
  add_ends(d);
  if (family.finish) family.finish(d);
  read_mtp(d);
  read_vision(d);
  read_formats(d, quantization);
  account_for_unread_keys(d);
  return model;
}

}  // namespace kvplan
