// SPDX-License-Identifier: Apache-2.0
// Every key that nobody read is known to bear on neither memory nor speed, or is named in a
// warning; where its name sounds like memory, the model is refused.
#include "catalog/huggingface/unread.h"

#include <algorithm>

#include "catalog/huggingface/draft.h"
#include "catalog/huggingface/irrelevant_keys.h"
#include "nearest.h"

namespace kvplan::huggingface {
namespace {

constexpr std::string_view kMemory[] = {
    "bias",   "cache",  "kv",    "head",  "layer",  "window",    "rank", "expert", "state",
    "hidden", "latent", "block", "chunk", "stride", "vocab",     "ffn",  "ff_",    "mlp",
    "conv",   "width",  "dim",   "size",  "attn",   "attention", "moe",  "ssm",    "mamba"};

// A wrapper's own keys describe towers and projectors, never the text model's memory: where those
// are counted, the others say how images are cut and prompts are made.
void account_for_wrapper(Draft& d) {
  for (const Keys::Unread& key : d.top.unread()) {
    if (is_irrelevant(key.name) || key.name.find('.') != key.name.npos) continue;
    if (key.name.ends_with("_config"))
      d.warn("part-not-counted", "what '" + key.name + "' describes is not counted");
    else if (d.model.vision.empty())
      d.warn("unread-key", "configuration key '" + key.name + "' was not used");
  }
}

// Names by which a family is found before any key is read.
bool names_the_model(std::string_view key) { return key == "model_type"; }

bool leads_to(const Node& value, const Node& text) {
  if (&value == &text) return true;
  return std::any_of(value.members.begin(), value.members.end(),
                     [&](const auto& member) { return leads_to(member.value, text); });
}

Node kept_of(const Draft& d, const Node& node) {
  Node kept = map();
  // Where a class has defaults, null is said too.
  const bool nested = &node == &d.keys.node() && &node != &d.top.node();
  for (const auto& [name, value] : node.members) {
    const bool opened = d.keys.has_opened(&value) || d.top.has_opened(&value);
    const bool read = d.keys.has_read(&value) || d.top.has_read(&value);
    if (value.kind == Node::null && !(nested && read)) continue;
    if (value.kind == Node::map && (opened || leads_to(value, d.keys.node())))
      put(kept, name, kept_of(d, value));
    else if (read || names_the_model(name) || !is_irrelevant(name))
      put(kept, name, value);
  }
  return kept;
}

// Keys that most configurations have, for those that somebody typed wrong.
constexpr std::string_view kUsual[] = {"hidden_size",
                                       "intermediate_size",
                                       "num_hidden_layers",
                                       "num_attention_heads",
                                       "num_key_value_heads",
                                       "head_dim",
                                       "vocab_size",
                                       "max_position_embeddings",
                                       "tie_word_embeddings",
                                       "attention_bias",
                                       "sliding_window",
                                       "use_sliding_window",
                                       "layer_types",
                                       "quantization_config",
                                       "num_experts",
                                       "num_local_experts",
                                       "n_routed_experts",
                                       "n_shared_experts",
                                       "num_experts_per_tok",
                                       "moe_intermediate_size",
                                       "first_k_dense_replace",
                                       "kv_lora_rank",
                                       "q_lora_rank",
                                       "qk_rope_head_dim",
                                       "qk_nope_head_dim",
                                       "v_head_dim",
                                       "full_attention_interval"};

// The usual key that this one nearly is and that the configuration lacks; empty where there is
// none.
std::string meant(const Draft& d, std::string_view name) {
  const std::vector<std::string> usual(std::begin(kUsual), std::end(kUsual));
  for (const std::string& near : near_misses(name, usual, 3)) {
    const std::size_t longer = std::max(near.size(), name.size()),
                      shorter = std::min(near.size(), name.size());
    if (longer - shorter <= 2 && !d.keys.node().find(near)) return near;
  }
  return {};
}

// Says that there are no biases; that there are some would be news.
bool adds_no_bias(const Keys::Unread& key, std::string_view name) {
  if (name != "bias" && name != "add_bias_linear" && name != "no_bias") return false;
  return key.off == (name != "no_bias");
}

Error not_understood(const Draft& d, const Keys::Unread& key) {
  const std::string of = d.family.types == "?" ? " in model_type '" + d.model.model_type +
                                                     "', which it does not know either"
                                               : " here";
  return Error("this key may bear on memory and kv-plan does not know what it means" + of)
      .of(key.name)
      .at_line(key.line)
      .advise(
          "Remove it in a copy of the configuration if it changes neither the cache nor "
          "the weights.");
}

}  // namespace

Node keys_that_count(const Draft& d) { return kept_of(d, d.top.node()); }

bool sounds_like_memory(std::string_view name) {
  return std::any_of(std::begin(kMemory), std::end(kMemory),
                     [&](std::string_view part) { return name.find(part) != name.npos; });
}

void account_for_unread_keys(Draft& d) {
  if (&d.top.node() != &d.keys.node()) account_for_wrapper(d);
  for (const Keys::Unread& key : d.keys.unread()) {
    const std::string name = key.name.substr(key.name.rfind('.') + 1);
    if (is_irrelevant(name)) continue;
    if (adds_no_bias(key, name)) continue;
    if (const std::string near = meant(d, name); !near.empty() && !key.off)
      throw Error("kv-plan does not know this key, and the configuration lacks '" + near + "'")
          .of(key.name)
          .at_line(key.line)
          .advise("Did you mean " + near + "?");
    if ((sounds_like_memory(name) && !key.off) || name == "no_bias") throw not_understood(d, key);
    d.warn("unread-key", "configuration key '" + key.name + "' was not used");
  }
}

}  // namespace kvplan::huggingface
