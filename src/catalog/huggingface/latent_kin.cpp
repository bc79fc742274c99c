// SPDX-License-Identifier: Apache-2.0
// Decoders over latents (latent.cpp) that deviate in a place or two: A.X K2, Hunyuan 4, GLM-5 Next,
// Ling 3, dots3, Mistral Large 4. Source: huggingface/transformers 5.24.
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

void drop(Layer& layer, std::string_view name) {
  std::erase_if(layer.weights, [&](const Weight& w) { return w.name == name; });
}

void vector(Layer& layer, std::string_view name, std::int64_t elements) {
  add_vector(layer.weights, name, Role::attention, elements);
}

// A gate for each head.
void add_head_gate(Draft& d, Layer& layer) {
  const auto& l = std::get<Latent>(layer.mixer.kind);
  add_matrix(layer.weights, "self_attn.g_proj", Role::attention, l.heads, d.hidden);
}

}  // namespace

// A.X K2: queries and gates of the output come from both latents; norms are gated by two narrow
// products, but those before a dense feed-forward.
void axk2_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  const auto l = std::get<Latent>(layer.mixer.kind);
  const std::int64_t rank = d.keys.count({"q_lora_rank"}), gate = d.keys.count({"gated_norm_rank"});
  drop(layer, "self_attn.q_b_proj");
  Weights& w = layer.weights;
  add_matrix(w, "self_attn.q_gate_proj", Role::attention, l.heads * (l.nope + l.rope + l.v_width),
             2 * rank);
  for (int n = 0; n < (has_experts(layer) ? 2 : 1); ++n) {
    add_matrix(w, "gated_norm.fc1", Role::mlp, gate, d.hidden, Sharding::replicated);
    add_matrix(w, "gated_norm.fc2", Role::mlp, d.hidden, gate, Sharding::replicated);
  }
}

// Hunyuan 4: sinks, a gate of the output, `hc_mult` residual streams that are read and written with
// 2 m weights of all streams.
void hy_v4_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  const auto& l = std::get<Latent>(layer.mixer.kind);
  const std::int64_t m = d.keys.count({"hc_mult"}, 64);
  vector(layer, "self_attn.sinks", l.heads);
  add_matrix(layer.weights, "self_attn.gate_proj", Role::attention, l.heads * l.v_width, d.hidden);
  for (const std::string_view name : {"attn_hc", "ffn_hc"})
    add_vector(layer.weights, name, Role::mlp, product(2 * m, m, d.hidden) + 2 * m + 2);
  d.keys.pass_over({"hc_magnitude", "learnable_sink_init"});
}

void finish_hy_v4(Draft& d) {
  const std::int64_t m = d.keys.count({"hc_mult"}, 64);
  add_vector(d.model.ends, "hc_head", Role::mlp, product(m, m, d.hidden) + m + 1);
}

// GLM-5 Next: latents without a rotary part among layers of KDA; the indexer keeps one key for
// `index_kpool` tokens; residual streams as DeepSeek-V4's.
void glm5_next_layer(Draft& d, std::int64_t i, Layer& layer) {
  const auto type = d.keys.entry_text({"layer_types"}, i);
  if (type && *type == "linear_attention") {
    add_kda(d, layer);
    d.keys.pass_over({"linear_lower_bound"});
    add_experts_or_mlp(d, i, layer);
    add_layer_norms(d, layer);
  } else {
    decoder_layer(d, i, layer);
  }
  if (auto& sparse = layer.mixer.sparse; sparse && sparse->owns_keys) {
    sparse->ratio = d.keys.count_or({"index_kpool"}, 16);
    vector(layer, "self_attn.indexer.index_kpool_compress",
           product(sparse->width, sparse->ratio + d.hidden));
  }
  d.keys.pass_over({"index_kpool_always_select_tail"});
  add_hyper_connection(d, layer.weights, "attn_hc");
  add_hyper_connection(d, layer.weights, "ffn_hc");
}

// Ling 3: every `layer_group_size`-th layer has latents and a gate for each head, the others KDA
// whose gates are whole products. Ling 2.5 has lightning attention in these, and group norms.
void bailing_hybrid_layer(Draft& d, std::int64_t i, Layer& layer) {
  if (d.keys.has({"group_norm_size"})) return bailing_linear_layer(d, i, layer);
  const auto type = d.keys.entry_text({"layer_types"}, i);
  const std::int64_t group = d.keys.count_or({"layer_group_size"}, 6);
  d.keys.pass_over({"short_conv_kernel_size", "linear_num_heads", "linear_head_dim",
                    "linear_conv_kernel_dim", "kda_lower_bound", "kda_safe_gate"});
  if (type ? *type == "full_attention" : (i + 1) % group == 0) {
    add_latent_attention(d, i, layer);
    add_head_gate(d, layer);
  } else {
    add_kda(d, layer, true);
  }
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

// dots3: some layers look at a window of latents of their own rank; a gate for each head and a
// norm of the rotary part.
void dots3_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  add_head_gate(d, layer);
  add_vector(layer.weights, "self_attn.k_rope_only_layernorm", Role::norm,
             std::get<Latent>(layer.mixer.kind).rope);
}

namespace {

// The layer whose latents layer `i` looks at.
std::int64_t source_of(const Draft& d, std::int64_t i) {
  const std::int64_t source = d.keys.entry_integer({"kv_source_layers"}, i).value_or(i);
  if (source > i) d.keys.refuse({"kv_source_layers"}, "a layer shares what a later one stores");
  return source;
}

void share_latents(Draft& d, std::int64_t i, Layer& layer) {
  const std::int64_t source = source_of(d, i);
  if (source == i) return;
  if (layer.mixer.sparse && layer.mixer.sparse->owns_keys)
    d.keys.refuse({"kv_source_layers"},
                  "kv-plan knows no layer that shares latents but has an indexer of its own");
  layer.mixer.shares_cache_of = static_cast<int>(source);
  drop(layer, "self_attn.kv_a_proj_with_mqa");
  drop(layer, "self_attn.kv_a_layernorm");
}

// Every fourth layer has no rotary part: its whole query meets the latent.
void take_rotary_away(Layer& layer) {
  auto& l = std::get<Latent>(layer.mixer.kind);
  for (Weight& w : layer.weights) {
    if (w.name == "self_attn.kv_a_proj_with_mqa") w.rows -= l.rope;
    if (w.name == "self_attn.kv_b_proj") w.rows += l.heads * l.rope;
  }
  l.nope += l.rope;
  l.rope = 0;
}

}  // namespace

// Mistral Large 4: no low rank of queries; the indexer norms its input; scores are scaled by
// learned numbers a head.
void mistral_large4_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  vector(layer, "self_attn.softmax_scaling", 2 * d.heads);
  if (const auto& s = layer.mixer.sparse; s && s->owns_keys) {
    vector(layer, "self_attn.indexer.q_input_norm", 2 * d.hidden);
    vector(layer, "self_attn.indexer.softmax_scaling", 2 * s->heads);
  }
  const std::int64_t every = d.keys.count_or({"no_rope_layer_interval"}, 4);
  const auto rope = d.keys.entry_integer({"no_rope_layers"}, i);
  if (rope ? *rope == 0 : (i + 1) % every == 0) take_rotary_away(layer);
  share_latents(d, i, layer);
}

// Learned factors of the rotary frequencies.
void finish_mistral_large4(Draft& d) {
  add_vector(d.model.ends, "rotary_emb.alpha", Role::norm, d.keys.count({"qk_rope_head_dim"}) / 2);
}

}  // namespace kvplan::huggingface
