// SPDX-License-Identifier: Apache-2.0
// NVIDIA's two families of layers that are not all alike: Nemotron-H (a block is one thing:
// Mamba-2, attention, a feed-forward or experts) and Puzzle-pruned Llama (Nemotron-NAS).
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

// M or "mamba", * or "attention", - or "mlp", E or "moe"; transformers v5 has names of its own.
void add_block(Draft& d, Layer& layer, std::string_view type, Names key) {
  if (type == "M" || type == "mamba" || type == "linear_attention")
    layer.mixer.kind = add_mamba2(d, layer);
  else if (type == "*" || type == "attention" || type == "full_attention")
    add_attention(d, 0, layer);
  else if (type == "-" || type == "mlp")
    add_feed_forward(d, layer.weights, Role::mlp, d.inner, d.hidden);
  else if ((type == "E" || type == "moe") && d.experts)
    add_experts(d, layer, *d.experts);
  else
    d.keys.refuse(key, "kv-plan does not know the block '" + std::string(type) + "' here");
  add_layer_norms(d, layer);
}

// The width is 2/3 of the multiple of the hidden size, rounded up to 256.
std::int64_t nas_inner(const Draft& d, const Keys& ffn) {
  const double multiple = ffn.number({"ffn_mult"}).value_or(0);
  if (!(multiple > 0 && multiple < 1024)) ffn.refuse({"ffn_mult"}, "must lie within 0 and 1024");
  return round_up(static_cast<std::int64_t>(2 * multiple * static_cast<double>(d.hidden) / 3), 256);
}

void add_nas_attention(Draft& d, const Keys& a, Layer& layer) {
  const bool gone = a.flag({"no_op"}), linear = a.flag({"replace_with_linear"});
  if (gone) return;
  if (linear) {
    add_matrix(layer.weights, "self_attn.linear_attn", Role::attention, d.hidden, d.hidden);
  } else {
    const std::int64_t group = a.count({"n_heads_in_group"});
    if (d.heads % group != 0) a.refuse({"n_heads_in_group"}, "does not divide the attention heads");
    const auto window = a.integer({"window_length"}, 1);
    add_heads(d, layer, {d.heads, d.heads / group, d.head_dim, d.head_dim},
              window ? Reach(Window{Tokens(*window)}) : Reach(All{}));
  }
  add_norm(d, layer.weights, "input_layernorm", d.hidden);
}

}  // namespace

void nemotron_h_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.pass_over({"mtp_layers_block_type", "mtp_hybrid_override_pattern"});
  if (const auto listed = d.keys.entry_text({"layers_block_type"}, i))
    return add_block(d, layer, *listed, {"layers_block_type"});
  const std::string pattern = d.keys.text({"hybrid_override_pattern"});
  if (static_cast<std::size_t>(i) >= pattern.size())
    d.keys.refuse({"hybrid_override_pattern"}, "the pattern is shorter than the model has layers");
  add_block(d, layer, std::string_view(pattern).substr(static_cast<std::size_t>(i), 1),
            {"hybrid_override_pattern"});
}

// One module holds all blocks of its own pattern.
void nemotron_h_mtp_layer(Draft& d, std::int64_t last, Layer& layer) {
  constexpr std::string_view kList[] = {"mtp_layers_block_type"},
                             kPattern[] = {"mtp_hybrid_override_pattern"};
  const std::string pattern = d.keys.text(kPattern);
  const std::int64_t listed = d.keys.length(kList);
  if (listed > 8 || pattern.size() > 8) d.keys.refuse(kPattern, "more than 8 blocks");
  for (std::int64_t i = 0; i < listed; ++i)
    add_block(d, layer, d.keys.entry_text(kList, i).value_or(""), kList);
  for (const char& type : pattern) add_block(d, layer, {&type, 1}, kPattern);
  if (listed == 0 && pattern.empty()) nemotron_h_layer(d, last, layer);
}

void nemotron_nas_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.required({"block_configs"});
  const Node* block = d.keys.entry({"block_configs"}, i);
  if (!block) d.keys.refuse({"block_configs"}, "the list is empty");
  const Keys keys(*block);
  const Keys ffn = keys.inside({"ffn"});
  add_nas_attention(d, keys.inside({"attention"}), layer);
  const bool gone = ffn.flag({"no_op"}), linear = ffn.flag({"replace_with_linear"});
  if (gone) return;
  if (linear)
    add_matrix(layer.weights, "mlp.linear_mlp", Role::mlp, d.hidden, d.hidden);
  else
    add_feed_forward(d, layer.weights, Role::mlp, nas_inner(d, ffn), d.hidden);
  add_norm(d, layer.weights, "post_attention_layernorm", d.hidden);
}

}  // namespace kvplan::huggingface
