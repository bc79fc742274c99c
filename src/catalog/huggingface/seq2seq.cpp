// SPDX-License-Identifier: Apache-2.0
// BART (Lewis et al. 2019) and its kin, T5Gemma (Zhang et al. 2025): an encoder of text beside a
// decoder that looks at it in every layer. Source: huggingface/transformers v5.
#include "catalog/huggingface/encoders.h"
#include "catalog/huggingface/special.h"
#include "catalog/huggingface/towers.h"

namespace kvplan::huggingface {
namespace {

void add_bart_attention(Draft& d, Weights& w, bool cross) {
  const bool biased = d.keys.flag({"use_bias"}, true);  // BigBird-Pegasus has none
  add_projection_set(d, w, cross, biased, biased);
}

// Tables of positions and norms of the embeddings are one a stack, the table of tokens is not.
void add_bart_encoder(Draft& d) {
  const std::int64_t inner = d.keys.count({"encoder_ffn_dim"}),
                     count = d.keys.count({"encoder_layers"}, 10'000);
  if (d.hidden % d.keys.count_or({"encoder_attention_heads"}, d.heads) != 0)
    d.keys.refuse({"encoder_attention_heads"}, "does not divide the model's width");
  for (std::int64_t i = 0; i < count; ++i) {
    Layer layer = encoder_layer(d);
    add_bart_attention(d, layer.weights, false);
    add_feed_forward(d, layer.weights, Role::mlp, inner, d.hidden);
    for (const std::string_view name : {"input_layernorm", "mlp_layernorm"})
      add_norm(d, layer.weights, name, d.hidden);
    d.model.layers.push_back(std::move(layer));
  }
  Weights& ends = d.model.ends;
  for (const Weight& w : Weights(ends)) {
    const bool positions = w.name == "embed_positions", norm = w.name == "embed_layernorm";
    if (!positions && !norm) continue;
    ends.push_back(w);
    ends.back().name = positions ? "encoder.embed_positions" : "encoder.embed_layernorm";
  }
}

// Marian's two languages may have tables of their own.
void add_second_table(Draft& d) {
  const std::int64_t rows = d.keys.count_or({"decoder_vocab_size"}, d.vocabulary);
  if (d.keys.flag({"share_encoder_decoder_embeddings"}, true)) return;
  for (Weight& w : d.model.ends)
    if (w.name == "embed_tokens" || w.name == "lm_head") w.rows = rows;
  add_table(d.model.ends, "encoder.embed_tokens", d.vocabulary, d.hidden);
  d.model.vocabulary = rows;
}

}  // namespace

void bart_layer(Draft& d, std::int64_t, Layer& layer) {
  layer.mixer.kind = all_heads(d);
  layer.mixer.reach = {All{}, Source{}};
  Weights& w = layer.weights;
  add_bart_attention(d, w, false);
  add_bart_attention(d, w, true);
  add_feed_forward(d, w, Role::mlp, d.inner, d.hidden);
  for (const std::string_view name : {"input_layernorm", "encoder_attn_layernorm", "mlp_layernorm"})
    add_norm(d, w, name, d.hidden);
}

// Norms stand before the blocks, and one more after each stack.
void finish_mbart(Draft& d) {
  d.keys.pass_over({"add_bias_logits", "add_final_layer_norm", "extra_pos_embeddings", "block_size",
                    "num_random_blocks", "attention_type"});
  add_bart_encoder(d);
  add_norm(d, d.model.ends, "encoder.norm", d.hidden);
  add_second_table(d);
}

// Norms stand after the blocks, and none after a stack.
void finish_bart(Draft& d) {
  finish_mbart(d);
  std::erase_if(d.model.ends,
                [](const Weight& w) { return w.name == "norm" || w.name == "encoder.norm"; });
}

namespace {

// An encoder of Gemma's layers, with widths of its own.
void add_gemma_encoder(Draft& d, const Keys& keys) {
  ModelSpec own;
  Draft e{d.top, keys, d.family, own};
  read_widths(e);
  for (std::int64_t i = 0; i < e.layers; ++i) {
    Layer layer;
    decoder_layer(e, i, layer);
    layer.role = Layer::encoder;
    layer.mixer.causal = false;
    layer.mixer.reach.clear();
    d.model.layers.push_back(std::move(layer));
  }
  add_norm(e, d.model.ends, "encoder.norm", e.hidden);
}

Keys encoder_keys(const Draft& d) {
  d.top.pass_over({"decoder"});
  return d.top.inside({"encoder"});
}

}  // namespace

// Attention to the encoder has projections and norms of its own; keys and values come from rows of
// the encoder's width.
void t5gemma_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  layer.mixer.reach.push_back(Source{});
  const std::int64_t source = encoder_keys(d).count({"hidden_size"}), q = d.heads * d.head_dim,
                     kv = d.kv_heads * d.head_dim;
  Weights& w = layer.weights;
  add_matrix(w, "cross_attn.q_proj", Role::attention, q, d.hidden);
  add_matrix(w, "cross_attn.k_proj", Role::attention, kv, source, Sharding::kv_heads);
  add_matrix(w, "cross_attn.v_proj", Role::attention, kv, source, Sharding::kv_heads);
  add_matrix(w, "cross_attn.o_proj", Role::attention, d.hidden, q);
  if (d.keys.flag({"attention_bias"}))
    add_vector(w, "cross_attn.bias", Role::attention, q + 2 * kv + d.hidden);
  for (const std::string_view name : {"pre_cross_attn_layernorm", "post_cross_attn_layernorm"})
    add_norm(d, w, name, d.hidden);
}

void finish_t5gemma(Draft& d) {
  const Keys encoder = encoder_keys(d);
  add_gemma_encoder(d, encoder);
  add_table(d.model.ends, "encoder.embed_tokens", encoder.count({"vocab_size"}),
            encoder.count({"hidden_size"}));
}

// One attention looks at the decoder's past and at the encoder's output, with the same projections.
void t5gemma2_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  layer.mixer.reach.push_back(Source{});
}

// The encoder sees images too; a learned row ends one. Both stacks have one table of tokens.
void finish_t5gemma2(Draft& d) {
  const Keys encoder = encoder_keys(d), text = encoder.inside({"text_config"});
  add_gemma_encoder(d, text);
  add_vector(d.model.ends, "encoder.eoi_embedding", Role::embedding, d.hidden);
  const Node* vision = encoder.find({"vision_config"});
  if (!vision || vision->kind != Node::map) return;
  const Keys keys(*vision);
  const Tower tower{keys};
  Count c;
  c.add(find_image_encoder("siglip_vision_model")->count(tower));
  c.vectors(1 + d.hidden, tower.width());
  add_tower(d, "encoder.vision_tower", c.n, false);
}

}  // namespace kvplan::huggingface
