// SPDX-License-Identifier: Apache-2.0
// Encoders: T5 and Whisper have one beside their decoder, BERT is nothing else. An encoder layer
// sees every position at once and keeps nothing, a decoder layer keeps its own past and, once per
// request, keys and values of the encoder's output.
#include "catalog/huggingface/encoders.h"

#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

// T5 1.1 and its kin gate their feed-forward.
void add_t5_feed_forward(Draft& d, Weights& w) {
  const bool gated = d.keys.text({"feed_forward_proj"}).starts_with("gated");
  d.keys.pass_over({"is_gated_act", "dense_act_fn"});
  if (gated) add_matrix(w, "mlp.gate_proj", Role::mlp, d.inner, d.hidden);
  add_matrix(w, "mlp.up_proj", Role::mlp, d.inner, d.hidden);
  add_matrix(w, "mlp.down_proj", Role::mlp, d.hidden, d.inner);
}

// Biases by relative position: one table a stack, in its first layer (UMT5: in every layer).
void add_t5_positions(Draft& d, Weights& w, std::int64_t i) {
  const std::int64_t buckets = d.keys.count_or({"relative_attention_num_buckets"}, 32);
  d.keys.pass_over({"relative_attention_max_distance"});
  if (i == 0 || d.model.model_type == "umt5")
    add_vector(w, "self_attn.relative_attention_bias", Role::attention, buckets * d.heads);
}

// An encoder's own stack: positions are sinusoids that the file stores.
void add_whisper_front(Draft& d) {
  const std::int64_t mels = d.keys.count_or({"num_mel_bins"}, 80),
                     source = d.keys.count_or({"max_source_positions"}, 1500);
  Weights& w = d.model.vision;
  add_vector(w, "encoder.conv1", Role::vision, product(3 * mels, d.hidden) + d.hidden);
  add_vector(w, "encoder.conv2", Role::vision, product(3 * d.hidden, d.hidden) + d.hidden);
  add_vector(w, "encoder.embed_positions", Role::vision, product(source, d.hidden));
}

}  // namespace

void add_projection_set(Draft& d, Weights& w, bool cross, bool biased, bool k_biased) {
  const std::int64_t width = d.heads * d.head_dim;
  struct Row {
    std::string_view own, other, bias;
    std::int64_t rows, columns;
    bool biased;
  };
  const Row rows[] = {
      {"self_attn.q_proj", "encoder_attn.q_proj", "q_proj.bias", width, d.hidden, biased},
      {"self_attn.k_proj", "encoder_attn.k_proj", "k_proj.bias", width, d.hidden, k_biased},
      {"self_attn.v_proj", "encoder_attn.v_proj", "v_proj.bias", width, d.hidden, biased},
      {"self_attn.o_proj", "encoder_attn.o_proj", "o_proj.bias", d.hidden, width, biased}};
  for (const Row& r : rows) {
    add_matrix(w, cross ? r.other : r.own, Role::attention, r.rows, r.columns);
    if (r.biased) add_vector(w, r.bias, Role::attention, r.rows);
  }
}

Attention all_heads(const Draft& d) { return {d.heads, d.heads, d.head_dim, d.head_dim}; }

Layer encoder_layer(const Draft& d) {
  Layer layer;
  layer.role = Layer::encoder;
  layer.mixer.kind = all_heads(d);
  layer.mixer.causal = false;
  return layer;
}

void t5_layer(Draft& d, std::int64_t i, Layer& layer) {
  layer.mixer.kind = all_heads(d);
  layer.mixer.reach = {All{}, Source{}};
  Weights& w = layer.weights;
  add_projection_set(d, w, false, false, false);
  add_projection_set(d, w, true, false, false);
  add_t5_feed_forward(d, w);
  add_t5_positions(d, w, i);
  for (const std::string_view name : {"input_layernorm", "encoder_attn_layernorm", "mlp_layernorm"})
    add_norm(d, w, name, d.hidden);
}

void finish_t5(Draft& d) {
  const std::int64_t count = d.keys.count({"num_layers"}, 10'000);
  for (std::int64_t i = 0; i < count; ++i) {
    Layer layer = encoder_layer(d);
    add_projection_set(d, layer.weights, false, false, false);
    add_t5_feed_forward(d, layer.weights);
    add_t5_positions(d, layer.weights, i);
    for (const std::string_view name : {"input_layernorm", "mlp_layernorm"})
      add_norm(d, layer.weights, name, d.hidden);
    d.model.layers.push_back(std::move(layer));
  }
  add_norm(d, d.model.ends, "encoder.norm", d.hidden);
}

void whisper_layer(Draft& d, std::int64_t, Layer& layer) {
  layer.mixer.kind = all_heads(d);
  layer.mixer.reach = {All{}, Source{}};
  Weights& w = layer.weights;
  add_projection_set(d, w, false, true, false);
  add_projection_set(d, w, true, true, false);
  add_feed_forward(d, w, Role::mlp, d.inner, d.hidden);
  for (const std::string_view name : {"input_layernorm", "encoder_attn_layernorm", "mlp_layernorm"})
    add_norm(d, w, name, d.hidden);
}

void finish_whisper(Draft& d) {
  const std::int64_t inner = d.keys.count({"encoder_ffn_dim"});
  const std::int64_t count = d.keys.count({"encoder_layers"}, 10'000);
  if (d.keys.count({"encoder_attention_heads"}) != d.heads)
    d.keys.refuse({"encoder_attention_heads"}, "differs from decoder_attention_heads");
  for (std::int64_t i = 0; i < count; ++i) {
    Layer layer = encoder_layer(d);
    add_projection_set(d, layer.weights, false, true, false);
    add_feed_forward(d, layer.weights, Role::mlp, inner, d.hidden);
    for (const std::string_view name : {"input_layernorm", "mlp_layernorm"})
      add_norm(d, layer.weights, name, d.hidden);
    d.model.layers.push_back(std::move(layer));
  }
  add_whisper_front(d);
  add_norm(d, d.model.ends, "encoder.norm", d.hidden);
  d.keys.pass_over({"max_length", "median_filter_width", "mask_feature_length"});
}

void bert_layer(Draft& d, std::int64_t, Layer& layer) {
  layer = encoder_layer(d);
  layer.role = Layer::main;  // no decoder reads what it writes
  add_projection_set(d, layer.weights, false, true, true);
  add_feed_forward(d, layer.weights, Role::mlp, d.inner, d.hidden);
  add_layer_norms(d, layer);
}

// Types of segments, the norm of the embeddings and the pooler; there is no final norm and no head.
void finish_bert(Draft& d) {
  Weights& ends = d.model.ends;
  std::erase_if(ends, [](const Weight& w) { return w.name == "norm" || w.role == Role::head; });
  add_table(ends, "token_type_embeddings", d.keys.count_or({"type_vocab_size"}, 2), d.hidden,
            Sharding::replicated);
  add_matrix(ends, "pooler.dense", Role::mlp, d.hidden, d.hidden);
  add_vector(ends, "pooler.dense.bias", Role::mlp, d.hidden);
  d.model.tied_head = false;
}

// ModernBERT (Warner et al. 2024): gated feed-forwards, rotary positions; the first layer's
// attention takes what the norm of the embeddings puts out.
void modernbert_layer(Draft& d, std::int64_t i, Layer& layer) {
  const bool biased = d.keys.flag({"attention_bias"});
  if (d.keys.flag({"norm_bias"}))
    d.keys.refuse({"norm_bias"}, "kv-plan knows norms without biases");
  d.keys.pass_over({"layer_types", "local_attention", "global_attn_every_n_layers", "decoder_bias",
                    "classifier_bias", "deterministic_flash_attn", "initializer_cutoff_factor"});
  layer = encoder_layer(d);
  layer.role = Layer::main;  // no decoder reads what it writes
  add_projection_set(d, layer.weights, false, biased, biased);
  add_feed_forward(d, layer.weights, Role::mlp, d.inner, d.hidden);
  if (i > 0) add_norm(d, layer.weights, "attn_norm", d.hidden);
  add_norm(d, layer.weights, "mlp_norm", d.hidden);
}

// A model that fills in words has one more product, a norm and a bias a word.
void finish_modernbert(Draft& d) {
  const std::string kind = d.keys.length({"architectures"}) > 0
                               ? d.keys.entry_text({"architectures"}, 0).value_or("")
                               : "";
  d.model.tied_head = false;
  std::erase_if(d.model.ends, [](const Weight& w) { return w.role == Role::head; });
  if (!kind.ends_with("ForMaskedLM")) return;
  Weights& ends = d.model.ends;
  add_matrix(ends, "head.dense", Role::mlp, d.hidden, d.hidden);
  add_norm(d, ends, "head.norm", d.hidden);
  if (d.keys.flag({"decoder_bias"}, true))
    add_vector(ends, "decoder.bias", Role::head, d.vocabulary);
}

}  // namespace kvplan::huggingface
