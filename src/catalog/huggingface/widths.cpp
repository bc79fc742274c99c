// SPDX-License-Identifier: Apache-2.0
// Hidden size, layers, heads, vocabulary under all their spellings.
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

constexpr std::int64_t kMostLayers = 10'000;
constexpr std::int64_t kMostWidth = std::int64_t{1} << 24;

std::int64_t layer_count(const Draft& d) {
  for (const std::string_view list : {"layers_block_type", "block_configs"})
    if (const Node* blocks = d.keys.find({list});
        blocks && blocks->kind == Node::list && !blocks->items.empty())
      return static_cast<std::int64_t>(blocks->items.size());
  return d.keys.count({"num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers"},
                      kMostLayers);
}

// Falcon and StarCoder say "one KV head" by a flag; a new-style Falcon has num_kv_heads, which then
// wins.
std::int64_t kv_head_count(const Draft& d) {
  const Keys& k = d.keys;
  const bool new_falcon = k.flag({"new_decoder_architecture"});
  if (k.flag({"multi_query"}) && !new_falcon) return 1;
  if (const auto groups = k.integer({"multi_query_group_num"}, 1);
      groups && k.flag({"multi_query_attention"}))
    return *groups;
  if (const auto n = k.integer({"num_key_value_heads", "num_kv_heads"}, 1)) return *n;
  if (const Node* attention = k.find({"attn_config"}))
    if (const auto n = Keys(*attention).integer({"kv_n_heads"}, 1)) return *n;
  return d.heads;
}

}  // namespace

void read_widths(Draft& d) {
  const Keys& k = d.keys;
  d.hidden = k.count({"hidden_size", "n_embd", "n_embed", "d_model"}, kMostWidth);
  d.layers = layer_count(d);
  if (d.layers > kMostLayers) throw Error("more than 10,000 layers").of("num_hidden_layers");
  d.heads =
      k.count({"num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads"},
              kMostWidth);
  d.kv_heads = kv_head_count(d);
  const bool latent = k.integer({"kv_lora_rank"}).value_or(0) > 0;
  if (!latent && d.heads % d.kv_heads != 0)
    throw Error(std::to_string(d.heads) + " attention heads are not a multiple of " +
                std::to_string(d.kv_heads) + " KV heads")
        .of("num_key_value_heads");
  if (const auto width =
          k.integer({"head_dim", "attention_head_dim", "kv_channels", "d_kv"}, 1, kMostWidth))
    d.head_dim = *width;
  else if (d.hidden % d.heads == 0)
    d.head_dim = d.hidden / d.heads;
  else if (!latent)
    throw Error("hidden_size " + std::to_string(d.hidden) + " is not a multiple of " +
                std::to_string(d.heads) + " heads")
        .of("head_dim")
        .advise("Give head_dim in the configuration.");
  const auto inner = k.integer({"intermediate_size", "ff_intermediate_size", "n_inner", "ffn_dim",
                                "ffn_hidden_size", "d_ff", "decoder_ffn_dim"},
                               0, kMostWidth);
  const std::int64_t ratio = k.integer({"expansion_ratio"}, 1, 1024).value_or(4);
  d.inner = inner.value_or(checked_mul(ratio, d.hidden)) / d.family.inner_divisor;
  const auto vocabulary = k.integer({"vocab_size", "padded_vocab_size"}, 1);
  d.vocabulary = vocabulary ? *vocabulary : d.top.count({"vocab_size", "padded_vocab_size"});
  if (const auto context =
          k.integer({"max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length",
                     "max_sequence_length", "model_max_length", "max_target_positions"},
                    1))
    d.model.max_context = Tokens(*context);
  d.model.hidden = d.hidden;
  d.model.vocabulary = d.vocabulary;
}

}  // namespace kvplan::huggingface
