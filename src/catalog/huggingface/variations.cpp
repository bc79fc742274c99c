// SPDX-License-Identifier: Apache-2.0
// Decoders that deviate from the ordinary one in one place.
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {

// Falcon: biases on request; one LayerNorm per layer in the old parallel design, otherwise two.
void falcon_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.pass_over({"ff_factor"});
  add_attention(d, i, layer);
  add_mlp(d, i, layer);
  const Keys& k = d.keys;
  const std::int64_t norms = k.integer({"num_ln_in_parallel_attn"}, 1, 2).value_or(2);
  const bool grouped = k.flag({"new_decoder_architecture"}, k.has({"n_head_kv"}));
  const bool two = (grouped && norms == 2) || !k.flag({"parallel_attn"}, true);
  add_norm(d, layer.weights, "input_layernorm", d.hidden);
  if (two) add_norm(d, layer.weights, "post_attention_layernorm", d.hidden);
  if (!k.flag({"bias"})) return;
  add_vector(layer.weights, "self_attn.query_key_value.bias", Role::attention,
             (d.heads + 2 * d.kv_heads) * d.head_dim);
  add_vector(layer.weights, "self_attn.dense.bias", Role::attention, d.hidden);
  add_vector(layer.weights, "mlp.up_proj.bias", Role::mlp, d.inner);
  add_vector(layer.weights, "mlp.down_proj.bias", Role::mlp, d.hidden);
}

// Snowflake Arctic: a dense feed-forward as wide as the model stands beside the experts, with a
// norm of its own (arctic.py, vllm-project/vllm).
void arctic_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.pass_over({"moe_layer_frequency", "parallel_attn_mlp_res", "moe_train_capacity_factor",
                    "moe_eval_capacity_factor", "moe_min_capacity",
                    "enable_expert_tensor_parallelism", "moe_token_dropping", "quantization",
                    "max_sequence_length"});
  add_attention(d, i, layer);
  add_layer_norms(d, layer);
  const std::int64_t every = d.keys.count_or({"moe_layer_frequency"}, 2);
  if (!d.experts || (i + 1) % every != 0) return add_mlp(d, i, layer);
  add_experts(d, layer, *d.experts);
  if (!d.keys.flag({"use_residual"})) return;
  add_feed_forward(d, layer.weights, Role::mlp, d.hidden, d.hidden);
  add_norm(d, layer.weights, "residual_layernorm", d.hidden);
}

// Beam: the gate of each head's output has a bias.
void beam_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  add_vector(layer.weights, "self_attn.gate_bias", Role::attention, d.heads);
}

// Grok: from its second version a dense feed-forward stands beside the experts.
void grok_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.pass_over({"max_attn_value", "sliding_window_size", "global_attn_every_n"});
  add_heads(d, layer, attention_shape(d), All{});
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
  if (d.experts && d.keys.flag({"residual_moe"}))
    add_feed_forward(d, layer.weights, Role::mlp, d.inner, d.hidden);
}

// A.X K1: one more norm after experts.
void axk1_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  if (has_experts(layer)) add_norm(d, layer.weights, "mlp.post_mlp_layernorm", d.hidden);
}

// BitNet: norms within attention and feed-forward, before their last products.
void bitnet_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  add_norm(d, layer.weights, "self_attn.attn_sub_norm", d.hidden);
  add_norm(d, layer.weights, "mlp.ffn_sub_norm", d.inner);
}

// GPT-Neo: layers look at everything and at a window in turn.
void gpt_neo_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.pass_over({"attention_types", "intermediate_size"});
  const auto type = d.keys.entry_text({"attention_layers"}, i);
  const bool local = type ? *type == "local" : i % 2 != 0;
  const Reach window = Window{Tokens(d.keys.count_or({"window_size"}, 256))};
  add_heads(d, layer, attention_shape(d), local ? window : Reach(All{}));
  add_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

// OPT: the table may be narrower than the model, with a projection on either side; the size that
// norms after its layers has no final norm (facebook/opt-350m).
void finish_opt(Draft& d) {
  const std::int64_t width = d.keys.count_or({"word_embed_proj_dim"}, d.hidden);
  Weights& ends = d.model.ends;
  if (!d.keys.flag({"do_layer_norm_before"}, true))
    std::erase_if(ends, [](const Weight& w) { return w.name == "norm"; });
  if (width == d.hidden) return;
  for (Weight& w : ends)
    if (w.name == "embed_tokens") w.columns = width;
  add_matrix(ends, "project_in", Role::mlp, d.hidden, width);
  add_matrix(ends, "project_out", Role::mlp, width, d.hidden);
}

// Voxtral Realtime: the delay of the transcript bends each layer's rows by two narrow products.
void voxtral_realtime_layer(Draft& d, std::int64_t i, Layer& layer) {
  constexpr std::int64_t kRank = 32;
  decoder_layer(d, i, layer);
  add_matrix(layer.weights, "ada_rms_norm.linear1", Role::mlp, kRank, d.hidden);
  add_matrix(layer.weights, "ada_rms_norm.linear2", Role::mlp, d.hidden, kRank);
}

// StarCoder 2: `use_bias` is of the feed-forward too.
void starcoder2_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  if (!d.keys.flag({"use_bias"})) return;
  add_vector(layer.weights, "mlp.up_proj.bias", Role::mlp, d.inner, Sharding::split);
  add_vector(layer.weights, "mlp.down_proj.bias", Role::mlp, d.hidden);
}

// Persimmon: norms of queries and keys have biases.
void persimmon_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  if (!d.keys.flag({"qk_layernorm"}, true)) return;
  for (const std::string_view name : {"self_attn.q_layernorm", "self_attn.k_layernorm"})
    add_norm(d, layer.weights, name, d.head_dim);
}

// Fuyu: one product takes patches to the text model's width.
void finish_fuyu(Draft& d) {
  if (d.model.model_type != "fuyu") return;
  const std::int64_t side = d.top.count_or({"patch_size"}, 30),
                     numbers = product(side, side, d.top.count_or({"num_channels"}, 3));
  add_matrix(d.model.vision, "vision_embed_tokens", Role::vision, d.hidden, numbers);
  add_vector(d.model.vision, "vision_embed_tokens.bias", Role::vision, d.hidden);
  d.top.pass_over({"image_size"});
}

// Apertus: its activation, xIELU, learns two numbers a layer.
void apertus_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  add_vector(layer.weights, "mlp.act_fn", Role::mlp, 2);
}

// gpt-oss: the router and every expert have biases.
void gpt_oss_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
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

namespace {

// The checkpoint has a map of keys, transformers v5 takes them out of it and lists layers by type.
std::optional<Sparse> minimax_m3_indexer(Draft& d, std::int64_t i) {
  const auto map = d.keys.if_inside({"sparse_attention_config"});
  const Keys& k = map ? *map : d.keys;
  k.pass_over({"sparse_init_block", "sparse_local_block", "index_local_blocks", "sparse_score_type",
               "sparse_disable_index_value"});
  const auto heads = k.integer({"sparse_num_index_heads", "index_n_heads"}, 1),
             width = k.integer({"sparse_index_dim", "index_head_dim"}, 1),
             blocks = k.integer({"sparse_topk_blocks", "index_topk_blocks"}, 1),
             block = k.integer({"sparse_block_size", "index_block_size"}, 1);
  const auto type = d.keys.entry_text({"layer_types"}, i);
  const bool marked = type ? *type == "minimax_m3_sparse"
                           : map && map->flag({"use_sparse_attention"}) &&
                                 map->entry_integer({"sparse_attention_freq"}, i).value_or(1) != 0;
  if (!marked) return std::nullopt;
  if (!heads || !width || !blocks || !block)
    d.keys.required({"sparse_num_index_heads", "index_n_heads"});
  Sparse s;
  s.heads = heads.value_or(1);
  s.width = width.value_or(1);
  s.top_entries = blocks.value_or(1) * block.value_or(1);
  return s;
}

}  // namespace

// MiniMax-M3: an indexer chooses blocks of the past in marked layers.
void minimax_m3_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.pass_over({"num_mtp_modules"});  // num_nextn_predict_layers counts the modules that exist
  add_heads(d, layer, attention_shape(d), All{});
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
  const auto s = minimax_m3_indexer(d, i);
  if (!s) return;
  layer.mixer.sparse = s;
  Weights& w = layer.weights;
  add_matrix(w, "self_attn.index_q_proj", Role::attention, s->heads * s->width, d.hidden);
  add_matrix(w, "self_attn.index_k_proj", Role::attention, s->width, d.hidden,
             Sharding::replicated);
  add_vector(w, "self_attn.index_q_norm", Role::norm, s->width);
  add_vector(w, "self_attn.index_k_norm", Role::norm, s->width);
}

// Llama 3.2 Vision: some layers attend to image tokens only; the embedding table has eight more
// rows than the head.
void mllama_layer(Draft& d, std::int64_t i, Layer& layer) {
  if (!d.keys.lists({"cross_attention_layers"}, i)) return decoder_layer(d, i, layer);
  Weights& w = layer.weights;
  add_heads(d, layer, attention_shape(d), Source{});
  add_vector(w, "cross_attn.q_norm", Role::norm, d.head_dim);
  add_vector(w, "cross_attn.k_norm", Role::norm, d.head_dim);
  add_vector(w, "cross_attn_attn_gate", Role::attention, 1);
  add_vector(w, "cross_attn_mlp_gate", Role::mlp, 1);
  add_experts_or_mlp(d, i, layer);
  add_layer_norms(d, layer);
}

void finish_mllama(Draft& d) {
  for (Weight& w : d.model.ends)
    if (w.role == Role::embedding) w.rows += 8;
}

// InternLM: `bias` is of all four projections.
void internlm_layer(Draft& d, std::int64_t i, Layer& layer) {
  decoder_layer(d, i, layer);
  if (!d.keys.flag({"bias"})) return;
  add_vector(layer.weights, "self_attn.qkv_proj.bias", Role::attention,
             (d.heads + 2 * d.kv_heads) * d.head_dim);
  add_vector(layer.weights, "self_attn.o_proj.bias", Role::attention, d.hidden);
}

// MiniCPM-V: Llama 3 inside version 2.5, Qwen2 with its biases inside 2.6, Qwen3 with its norms
// inside 4.5.
void minicpmv_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.pass_over({"batch_vision_input", "batch_3d_resampler", "drop_vision_last_layer",
                    "image_size", "patch_size", "query_num", "slice_config", "slice_mode",
                    "use_image_id"});
  const std::string version = d.keys.required({"version"}).text;
  if (version != "2.5" && version != "2.6" && version != "4.5")
    d.keys.refuse({"version"}, "kv-plan does not know the text model of this version");
  decoder_layer(d, i, layer);
  if (version == "2.6")
    add_vector(layer.weights, "self_attn.qkv_proj.bias", Role::attention,
               (d.heads + 2 * d.kv_heads) * d.head_dim);
  if (version == "4.5") add_vector(layer.weights, "self_attn.qk_norms", Role::norm, 2 * d.head_dim);
}

// LLaDA: Llama without a causal mask, under OLMo's names of keys.
void llada_widths(Draft& d) {
  const Keys& k = d.keys;
  if (k.text({"block_type"}, "llama") != "llama")
    k.refuse({"block_type"}, "kv-plan knows blocks of the type 'llama' only");
  for (const std::string_view name : {"attention_layer_norm", "bias_for_layer_norm", "include_bias",
                                      "include_qkv_bias", "input_emb_norm"})
    if (k.flag({name})) k.refuse({name}, "kv-plan knows LLaDA without it only");
  d.inner = k.count({"mlp_hidden_size"});
  d.vocabulary = d.model.vocabulary = k.count_or({"embedding_size"}, d.vocabulary);
  k.pass_over({"activation_type", "attention_layer_norm_with_affine", "block_group_size",
               "flash_attention", "init_cutoff_factor", "init_fn", "layer_norm_with_affine",
               "mlp_ratio", "precision", "rope", "scale_logits"});
}

// Dream: Qwen2 without a causal mask.
void finish_diffusion(Draft& d) {
  d.warn(
      "diffusion",
      "a diffusion model looks at its whole sequence again in every step: it has a cache only in "
      "engines that approximate it, and ceilings of one token a step are not its own");
}

// Phi-3-small: every other layer looks at local blocks and at strides only, but stores everything.
void phi3small_layer(Draft& d, std::int64_t i, Layer& layer) {
  d.keys.pass_over({"blocksparse_block_size", "blocksparse_homo_head_pattern",
                    "blocksparse_num_local_blocks", "blocksparse_triton_kernel_block_size",
                    "blocksparse_vert_stride", "dense_attention_every_n_layers"});
  if (i == 0)
    d.warn("block-sparse-reads",
           "block-sparse layers store the whole past; their reads are counted as if they were "
           "dense, so the speed ceiling may be too low at long context");
  decoder_layer(d, i, layer);
}

// StableLM: one norm a layer where attention and feed-forward stand side by side.
void stablelm_layer(Draft& d, std::int64_t i, Layer& layer) {
  add_attention(d, i, layer);
  add_mlp(d, i, layer);
  add_norm(d, layer.weights, "input_layernorm", d.hidden);
  if (!d.keys.flag({"use_parallel_residual"}))
    add_norm(d, layer.weights, "post_attention_layernorm", d.hidden);
}

// glm-4-9b and its kin store the rotary frequencies, a quarter of a head.
void finish_chatglm(Draft& d) {
  if (d.keys.flag({"original_rope"}))
    add_vector(d.model.ends, "rotary_pos_emb.inv_freq", Role::norm, d.head_dim / 4);
}

}  // namespace kvplan::huggingface
