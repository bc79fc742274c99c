// SPDX-License-Identifier: Apache-2.0
// Families that deviate from an ordinary decoder in one place.
#include <cmath>

#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {

// Falcon: biases on request, one LayerNorm per layer in the old single-norm design, two in the new
// one.
void falcon_layer(Draft& d, std::int64_t i, Layer& layer) {
  add_attention(d, i, layer);
  add_feed_forward(d, layer.weights, Role::mlp, d.inner, d.hidden);
  const bool two =
      d.keys.flag({"new_decoder_architecture"}) || !d.keys.flag({"parallel_attn"}, true);
  add_norm(d, layer.weights, "input_layernorm", d.hidden);
  if (two) add_norm(d, layer.weights, "ln_mlp", d.hidden);
  if (!d.keys.flag({"bias"})) return;
  add_vector(layer.weights, "self_attn.bias", Role::attention,
             (d.heads + 2 * d.kv_heads) * d.head_dim + d.hidden);
  add_vector(layer.weights, "mlp.bias", Role::mlp, d.inner + d.hidden);
}

// Puzzle-pruned Llama (Nemotron-NAS): attention and feed-forward differ from layer to layer, or are
// left out.
void nemotron_nas_layer(Draft& d, std::int64_t i, Layer& layer) {
  const Node* blocks = d.keys.find({"block_configs"});
  if (!blocks) throw Error("the configuration lacks a key that kv-plan needs").of("block_configs");
  const Node& block = blocks->items.at(static_cast<std::size_t>(i));
  const Node *attention = block.find("attention"), *ffn = block.find("ffn");
  if (!attention || !ffn)
    throw Error("a block lacks attention or ffn").of("block_configs").at_line(block.line);
  const Keys a(*attention), f(*ffn);
  if (a.flag({"replace_with_linear"})) {
    add_matrix(layer.weights, "self_attn.linear_attn", Role::attention, d.hidden, d.hidden);
    add_norm(d, layer.weights, "input_layernorm", d.hidden);
  } else if (!a.flag({"no_op"})) {
    const std::int64_t group = a.count({"n_heads_in_group"});
    if (d.heads % group != 0)
      throw Error("does not divide the attention heads").of("n_heads_in_group").at_line(block.line);
    const auto sinks = a.integer({"window_length"}, 1);
    add_heads(d, layer, {d.heads, d.heads / group, d.head_dim, d.head_dim},
              sinks ? Reach(Window{Tokens(*sinks)}) : Reach(All{}));
    add_norm(d, layer.weights, "input_layernorm", d.hidden);
  }
  if (f.flag({"replace_with_linear"})) {
    add_matrix(layer.weights, "mlp.linear_mlp", Role::mlp, d.hidden, d.hidden);
    add_norm(d, layer.weights, "post_attention_layernorm", d.hidden);
  } else if (!f.flag({"no_op"})) {
    // The width is 2/3 of the multiple, rounded up to 256.
    const auto width = static_cast<std::int64_t>(2 * f.number({"ffn_mult"}).value_or(0) *
                                                 static_cast<double>(d.hidden) / 3);
    if (width < 1) throw Error("must be positive").of("ffn_mult").at_line(block.line);
    add_feed_forward(d, layer.weights, Role::mlp, round_up(width, 256), d.hidden);
    add_norm(d, layer.weights, "post_attention_layernorm", d.hidden);
  }
}

// MiMo-V2: sliding layers (1 in the pattern) have heads and widths of their own.
void mimo_v2_layer(Draft& d, std::int64_t i, Layer& layer) {
  const Keys& k = d.keys;
  const auto pattern = k.integers({"hybrid_layer_pattern"});
  if (static_cast<std::int64_t>(pattern.size()) < d.layers)
    throw Error("fewer entries than there are layers").of("hybrid_layer_pattern");
  const bool slides = pattern[static_cast<std::size_t>(i)] == 1;
  if (slides) {
    const Attention a{k.count({"swa_num_attention_heads"}), k.count({"swa_num_key_value_heads"}),
                      k.count({"swa_head_dim"}), k.count({"swa_v_head_dim"})};
    add_heads(d, layer, a, Window{Tokens(k.count({"sliding_window_size", "sliding_window"}))});
  } else {
    add_heads(d, layer, {d.heads, d.kv_heads, d.head_dim, k.count_or({"v_head_dim"}, d.head_dim)},
              All{});
  }
  if (k.flag({slides ? "add_swa_attention_sink_bias" : "add_full_attention_sink_bias"}))
    add_vector(layer.weights, "self_attn.attention_sink_bias", Role::attention, d.heads);
  add_mixer_of_experts_or_mlp(d, i, layer);
  for (int n = 0; n < d.family.norms_per_layer; ++n)
    add_norm(d, layer.weights, "layernorm", d.hidden);
}

// MiniMax-M3: an indexer chooses blocks of the past in the layers that `sparse_attention_freq`
// marks.
void minimax_m3_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  const Node* config = d.keys.find({"sparse_attention_config"});
  if (!config) return;
  const Keys sparse(*config);
  const auto marks = sparse.integers({"sparse_attention_freq"});
  if (!sparse.flag({"use_sparse_attention"}) ||
      (!marks.empty() && marks.at(static_cast<std::size_t>(i)) == 0))
    return;
  Sparse s;
  s.heads = sparse.count({"sparse_num_index_heads"});
  s.width = sparse.count({"sparse_index_dim"});
  s.top_entries =
      checked_mul(sparse.count({"sparse_topk_blocks"}), sparse.count({"sparse_block_size"}));
  layer.mixer.sparse = s;
  add_matrix(layer.weights, "self_attn.index_q_proj", Role::attention, s.heads * s.width, d.hidden,
             Sharding::replicated);
  add_matrix(layer.weights, "self_attn.index_k_proj", Role::attention, s.width, d.hidden,
             Sharding::replicated);
}

// glm-4-9b and its kin store the rotary frequencies, a quarter of a head.
void finish_chatglm(Draft& d) {
  if (d.keys.flag({"original_rope"}))
    add_vector(d.model.ends, "rotary_pos_emb.inv_freq", Role::norm, d.head_dim / 4);
}

// gpt-oss: the router and every expert have biases.
void finish_gpt_oss(Draft& d) {
  for (Layer& layer : d.model.layers) {
    std::vector<Weight> biases;
    for (const Weight& w : layer.weights) {
      if (w.role != Role::routed_expert || !w.is_matrix) continue;
      Weight bias = w;
      bias.name = "mlp.experts.*.bias";
      bias.columns = 1;
      bias.is_matrix = false;
      biases.push_back(bias);
    }
    layer.weights.insert(layer.weights.end(), biases.begin(), biases.end());
  }
}

}  // namespace kvplan::huggingface
