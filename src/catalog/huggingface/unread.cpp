// SPDX-License-Identifier: Apache-2.0
// Every key that nobody read is known to bear on neither memory nor speed, or is named in a
// warning; where its name sounds like memory, the model is refused.
#include "catalog/huggingface/unread.h"

#include <algorithm>

#include "catalog/huggingface/draft.h"
#include "nearest.h"

namespace kvplan::huggingface {
namespace {

// Whole names, separated by blanks.
constexpr std::string_view kIrrelevant[] = {
    // details of other keys
    "attn_impl prefix_lm attn_uses_sequence_id softmax_scale qk_ln ffn_act_fn "
    "moe_normalize_expert_weights uniform_expert_assignment",
    // bookkeeping of files and libraries
    "model_type architectures auto_map transformers_version torchscript use_cache name_or_path "
    "tokenizer_class tokenizer_name task_specific_params finetuning_task problem_type id2label "
    "label2id num_labels pruned_heads is_decoder is_encoder_decoder add_cross_attention "
    "cross_attention_hidden_size tie_encoder_decoder chunk_size_feed_forward torch_dtype dtype "
    "bf16 fp16 fp32 use_bfloat16 tf_legacy_loss attn_implementation cache_implementation "
    "use_kernel_forward ignore_keys_at_rope_validation for_llm_compressor seq_length "
    "gradient_checkpointing inference_runner max_batch_size validate_runner_input "
    "pre_allocate_kv_cache use_mambapy rms_norm fused_add_norm pad_vocab_size_multiple ssm_cfg "
    "d_inner "
    "model_max_length max_sequence_length max_tokenizer_truncation "
    "original_max_position_embeddings "
    "initial_context_length ep_size pretraining_tp parallel_output num_logits_to_keep "
    "num_reward_heads quantization_config unsloth_fixed unsloth_version",
    // generation
    "do_sample early_stopping num_beams num_beam_groups num_return_sequences max_length min_length "
    "max_new_tokens length_penalty diversity_penalty repetition_penalty no_repeat_ngram_size "
    "encoder_no_repeat_ngram_size bad_words_ids suppress_tokens begin_suppress_tokens "
    "exponential_decay_length_penalty remove_invalid_values temperature top_k top_p typical_p "
    "prefix output_past forced_decoder_ids",
    // training and initialisation
    "attention_dropout_prob bias_dropout_fusion dropout dropout_rate altup_lr_multiplier "
    "init_method "
    "embed_dropout ffn_dropout_prob "
    "classifier_dropout classifier_dropout_rate layerdrop encoder_layerdrop decoder_layerdrop "
    "apply_spec_augment mask_time_prob mask_time_length mask_time_min_masks mask_feature_prob "
    "mask_feature_length mask_feature_min_masks init_config init_device init_std initializer_range "
    "initializer_factor initializer_method fan_in_init aux_loss_alpha seq_aux z_loss_weight "
    "router_aux_loss_coef router_z_loss_coef router_jitter_noise input_jitter_noise "
    "moe_loss_weight "
    "moe_jitter_eps output_router_logits moe_token_dropping expert_dropout embedding_fraction "
    "rescale_prenorm_residual residual_in_fp32 fp32_residual_connection fp32_lm_head verbose "
    "sequence_parallel moe_dropout recompute use_recompute",
    // activations and norms: which, not how wide
    "hidden_act hidden_activation activation_function activation gated_linear_unit "
    "mlp_hidden_act mamba_hidden_act projector_hidden_act swiglu_limit swiglu_alpha "
    "swiglu_limits swiglu_limits_shared gegelu_limit gegelu_pad_to_256 activation_situ_beta "
    "activation_situ_linear_beta gate_lower_bound norm_type rmsnorm use_rms_norm norm_head "
    "norm_softmax post_layer_norm use_gemma_norm use_post_norm layer_norm_type "
    "do_layer_norm_before "
    "apply_residual_connection_post_layernorm layernorm_compute_precision sandwich_norm "
    "time_step_min time_step_max time_step_limit time_step_floor time_step_scale "
    "normalization_function mlp_type use_gated_activation mamba_norm_before_gate "
    "time_step_init_scheme mixer_rms_eps clip_qkv final_layer_norm embedding_layernorm",
    // positions and scores: how they are computed
    "rotary theta use_pos_enc alibi alibi_bias_max position_embedding_type learned_pos_emb "
    "mla_use_nope use_dynamic_ntk "
    "use_logn_attn use_mrope max_position_embeddings_scale query_pre_attn_scalar "
    "attn_logit_softcapping final_logit_softcapping logit_softcapping logit_scale logits_scaling "
    "output_multiplier attention_multiplier embedding_multiplier residual_multiplier "
    "lm_head_multiplier key_multiplier attention_in_multiplier attention_out_multiplier "
    "ssm_in_multiplier ssm_out_multiplier ssm_multipliers mlp_multipliers scale_attn_weights "
    "scale_attn_by_inverse_layer_idx apply_query_key_layer_scaling attention_value_scale scale_emb "
    "scale_depth dim_model_base mup_denominator mup_attn_multiplier mup_embedding_multiplier "
    "mup_use_scaling mup_width_multiplier attn_temperature_tuning attn_scale floor_scale "
    "scale_embedding scale_attention_softmax_in_fp32 use_parallel_block use_parallel_embedding "
    "order_of_interleaved_layers pad_key_length attention_softmax_in_fp32 softmax_in_fp32 "
    "masked_softmax_fusion reorder_and_upcast_attn "
    "slow_but_exact partial_rotary_factor use_parallel_residual parallel_attn "
    "use_bidirectional_attention deterministic layer_group_size nope_layer_interval",
    // routing: which experts, not how many
    "norm_topk_prob scoring_func routed_scaling_factor n_group topk_group num_expert_group "
    "shared_expert_combination_strategy expert_selection_fn enable_moe_fp32_combine "
    "moe_apply_router_weight_on_input moe_router_logit_softcapping "
    "prefix_dense_sliding_window_pattern norm_expert_weight "
    "num_expert_groups num_limited_groups embeddings_scale_by_sqrt_dim mup_width_scale width_scale "
    "mup_embeddings_scale "
    "embeddings_scale mup_output_alpha "
    "mup_scale_qk_dot_by_d embedding_multiplier_scale output_multiplier_scale "
    "attn_output_multiplier attn_temperature_len attn_factor "
    "moe_router_activation "
    "use_grouped_topk moe_renormalize moe_router_activation_func moe_router_use_sigmoid "
    "moe_shared_expert_overlap moe_aux_loss_coeff score_function route_norm route_scale "
    "moe_gate moe_use_aux_free topk_method router_bias_update_rate use_moe moe_capacity",
    "global_attn_every_n_layers mup_enabled layer_norm_elementwise_affine enable_bias "
    "full_attn_mod interpolate_factor moe_norm_min attn_rotary_emb anyres_pooling_size "
    "moe_drop_tokens "
    "moe_random_routing_dropped_token org_vocab_size group_limited_greedy class_num dense_list "
    "mask_init_id pool_type use_mixed_mlp_moe use_rotary_pos_emb text_start_id text_end_id "
    "z_loss_coefficient router_dtype use_rmsnorm add_classification_head "
    "prefix_projection quantization_bit interleaved_qkv multi_gate num_query_groups",
    // biases and heads that are absent, or that the family implies
    "mamba_proj_bias lm_head rm_head embd_layer "
    "attention_output_gate use_flash_attn use_fused_rms_norm use_mamba_kernels use_mtp "
    "mtp_transformer_layers mtp_use_dedicated_embeddings mtp_loss_scaling_factor "
    "num_mtp_modules shared_intermediate_size pad_sequence_to_multiple_of_64 head_dim qk_head_dim "
    "projectors_bias use_embedding_sharing classifier_proj_size use_weighted_layer_sum "
    "summary_type summary_use_proj summary_proj_to_labels summary_first_dropout "
    "summary_activation",
    // wrappers of vision and audio models
    "img_processor image_placeholder video_placeholder vision_config audio_config "
    "multimodal_projector_bias "
    "mm_tokens_per_image mm_projector_type mm_hidden_size mm_use_im_patch_token "
    "mm_use_im_start_end mm_vision_select_feature mm_vision_select_layer mm_vision_tower "
    "use_mm_proj "
    "tune_mm_mlp_adapter tune_mm_vision_resampler unfreeze_mm_vision_tower freeze_mm_mlp_adapter "
    "freeze_mm_vision_resampler vision_feature_layer vision_feature_select_strategy "
    "image_aspect_ratio image_grid_pinpoints image_seq_length image_split_resolution "
    "projector_hidden_size candidate_resolutions global_view_pos tile_tag ignore_index "
    "use_unified_vision_chunk process_image_mode spatial_merge_size vision_soft_tokens_per_image "
    "audio_soft_tokens_per_image select_layer downsample_ratio dynamic_image_size force_image_size "
    "max_dynamic_patch min_dynamic_patch ps_version use_thumbnail template use_backbone_lora "
    "use_llm_lora pad2square hidden_size vocab_size tie_word_embeddings num_attention_heads "
    "perceiver_config pixel_shuffle_factor qk_layer_norms use_resampler num_image_tokens "
    "neftune_noise_alpha transformers_js_config use_reentrant_checkpointing is_composition",
};

constexpr std::string_view kHarmlessStarts[] = {"_",       "rope_",    "rotary_",     "output_",
                                                "return_", "summary_", "vision_token"};
constexpr std::string_view kHarmlessEnds[] = {
    "_token_id",        "_token_ids",   "_token_index",
    "_token",           "_dropout",     "_pdrop",
    "_dropout_prob",    "_eps",         "_epsilon",
    "_theta",           "_std",         "_token_id_list",
    "_rope_interleave", "_base_freq",   "_scaling_factor",
    "_alpha_factor",    "_beta_factor", "_attention_alpha",
    "_attention_beta",  "_mlp_alpha",   "_mlp_beta"};

constexpr std::string_view kMemory[] = {
    "bias",   "cache",  "kv",    "head",  "layer",  "window",    "rank", "expert", "state",
    "hidden", "latent", "block", "chunk", "stride", "vocab",     "ffn",  "ff_",    "mlp",
    "conv",   "width",  "dim",   "size",  "attn",   "attention", "moe",  "ssm",    "mamba"};

bool is_listed(std::string_view name) {
  return std::any_of(std::begin(kIrrelevant), std::end(kIrrelevant), [&](std::string_view words) {
    for (std::size_t at = words.find(name); at != words.npos; at = words.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' '))
        return true;
    }
    return false;
  });
}

bool is_irrelevant(std::string_view name) {
  const auto starts = [&](std::string_view s) { return name.starts_with(s); };
  const auto ends = [&](std::string_view s) { return name.ends_with(s); };
  return is_listed(name) ||
         std::any_of(std::begin(kHarmlessStarts), std::end(kHarmlessStarts), starts) ||
         std::any_of(std::begin(kHarmlessEnds), std::end(kHarmlessEnds), ends);
}

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
