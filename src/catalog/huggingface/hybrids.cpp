// SPDX-License-Identifier: Apache-2.0
// Families that mix attention layers with recurrent ones.
#include <algorithm>

#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

void add_norms(Draft& d, Layer& layer, int count = 2) {
  for (int n = 0; n < count; ++n)
    add_norm(d, layer.weights, n == 0 ? "input_layernorm" : "post_attention_layernorm", d.hidden);
}

// Nemotron-H: one block is one thing. M or "mamba", * or "attention", - or "mlp", E or "moe".
std::string block_type(const Draft& d, std::int64_t i) {
  const auto at = static_cast<std::size_t>(i);
  if (const auto list = d.keys.texts({"layers_block_type"}); !list.empty()) return list.at(at);
  const std::string pattern = d.keys.text({"hybrid_override_pattern"});
  if (at >= pattern.size())
    throw Error("the pattern is shorter than the model has layers").of("hybrid_override_pattern");
  switch (pattern[at]) {
    case 'M':
      return "mamba";
    case '*':
      return "attention";
    case '-':
      return "mlp";
    case 'E':
      return "moe";
    default:
      throw Error(std::string("unknown block '") + pattern[at] + "'").of("hybrid_override_pattern");
  }
}

bool listed(const Keys& keys, std::string_view name, std::int64_t value) {
  const auto list = keys.integers({name});
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

void nemotron_h_layer(Draft& d, std::int64_t i, Layer& layer) {
  const std::string type = block_type(d, i);
  if (type == "mamba")
    add_mamba2(d, layer);
  else if (type == "attention")
    add_attention(d, i, layer);
  else if (type == "moe")
    add_mixer_of_experts_or_mlp(d, i, layer);
  else if (type == "mlp")
    add_feed_forward(d, layer.weights, Role::mlp, d.inner, d.hidden);
  else
    throw Error("unknown block type '" + type + "'").of("layers_block_type");
  add_norms(d, layer, 1);
}

void kimi_linear_layer(Draft& d, std::int64_t i, Layer& layer) {
  const Node* config = d.keys.find({"linear_attn_config"});
  if (!config)
    throw Error("the configuration lacks a key that kv-plan needs").of("linear_attn_config");
  const Keys linear(*config);  // its lists count layers from 1
  const bool full = listed(linear, "full_attn_layers", i + 1),
             kda = listed(linear, "kda_layers", i + 1);
  if (full == kda)
    throw Error("layer " + std::to_string(i + 1) + " must stand in exactly one of the two lists")
        .of("linear_attn_config");
  if (full)
    add_latent_attention(d, i, layer);
  else
    add_kda(d, layer);
  add_mixer_of_experts_or_mlp(d, i, layer);
  add_norms(d, layer);
}

void jamba_layer(Draft& d, std::int64_t i, Layer& layer) {
  const std::int64_t period = d.keys.count({"attn_layer_period"});
  if (i % period == d.keys.integer({"attn_layer_offset"}).value_or(0))
    add_attention(d, i, layer);
  else
    add_mamba1(d, layer);
  add_mixer_of_experts_or_mlp(d, i, layer);
  add_norms(d, layer);
}

void granite_hybrid_layer(Draft& d, std::int64_t i, Layer& layer) {
  const auto types = d.keys.texts({"layer_types", "layers_block_type"});
  if (types.empty())
    throw Error("the configuration lacks a key that kv-plan needs").of("layer_types");
  if (types.at(static_cast<std::size_t>(i)) == "attention") {
    Attention a{d.heads, d.kv_heads, d.head_dim, d.head_dim};
    add_heads(d, layer, a, All{});
  } else {
    add_mamba2(d, layer);
  }
  add_mixer_of_experts_or_mlp(d, i, layer);
  add_norms(d, layer);
}

void lfm2_layer(Draft& d, std::int64_t i, Layer& layer) {
  const auto types = d.keys.texts({"layer_types"});
  if (types.empty())
    throw Error("the configuration lacks a key that kv-plan needs").of("layer_types");
  if (types.at(static_cast<std::size_t>(i)) == "conv")
    add_short_conv(d, layer);
  else
    add_attention(d, i, layer);
  add_mixer_of_experts_or_mlp(d, i, layer);
  add_norms(d, layer);
}

void mamba_layer(Draft& d, std::int64_t, Layer& layer) {
  add_mamba1(d, layer);
  add_norms(d, layer, 1);
}

}  // namespace kvplan::huggingface
