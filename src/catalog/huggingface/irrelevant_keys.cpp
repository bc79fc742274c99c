// SPDX-License-Identifier: Apache-2.0
#include "catalog/huggingface/irrelevant_keys.h"

#include <algorithm>
#include <iterator>

#include "word_list.h"

namespace kvplan::huggingface {
namespace {

constexpr std::string_view kIrrelevant[] = {
    // details of other keys
    "add_classification_head anyres_pooling_size attn_impl attn_rotary_emb attn_uses_sequence_id "
    "class_num dense_list enable_bias ffn_act_fn full_attn_mod global_attn_every_n_layers "
    "group_limited_greedy interleaved_qkv interpolate_factor layer_norm_elementwise_affine "
    "mask_init_id moe_drop_tokens moe_norm_min moe_normalize_expert_weights "
    "moe_random_routing_dropped_token multi_gate mup_enabled num_query_groups org_vocab_size "
    "pool_type prefix_lm prefix_projection qk_ln quantization_bit router_dtype softmax_scale "
    "text_end_id text_start_id uniform_expert_assignment use_mixed_mlp_moe use_rmsnorm "
    "use_rotary_pos_emb z_loss_coefficient",
    // bookkeeping of files and libraries
    "add_cross_attention architectures attn_implementation auto_map bf16 cache_implementation "
    "chunk_size_feed_forward cross_attention_hidden_size d_inner dtype ep_size finetuning_task "
    "for_llm_compressor fp16 fp32 fused_add_norm gradient_checkpointing id2label "
    "ignore_keys_at_rope_validation inference_runner initial_context_length is_decoder "
    "is_encoder_decoder label2id max_batch_size max_sequence_length max_tokenizer_truncation "
    "model_max_length model_type name_or_path num_labels num_logits_to_keep num_reward_heads "
    "original_max_position_embeddings pad_vocab_size_multiple parallel_output "
    "pre_allocate_kv_cache pretraining_tp problem_type pruned_heads quantization_config rms_norm "
    "seq_length ssm_cfg task_specific_params tf_legacy_loss tie_encoder_decoder tokenizer_class "
    "tokenizer_name torch_dtype torchscript transformers_version unsloth_fixed unsloth_version "
    "use_bfloat16 use_cache use_kernel_forward use_mambapy validate_runner_input",
    // generation
    "bad_words_ids begin_suppress_tokens diversity_penalty do_sample early_stopping "
    "encoder_no_repeat_ngram_size exponential_decay_length_penalty forced_decoder_ids "
    "length_penalty max_length max_new_tokens min_length no_repeat_ngram_size num_beam_groups "
    "num_beams num_return_sequences output_past prefix remove_invalid_values repetition_penalty "
    "suppress_tokens temperature top_k top_p typical_p",
    // training and initialisation
    "altup_lr_multiplier apply_spec_augment attention_dropout_prob aux_loss_alpha "
    "bias_dropout_fusion classifier_dropout classifier_dropout_rate decoder_layerdrop dropout "
    "dropout_rate embed_dropout embedding_fraction encoder_layerdrop expert_dropout fan_in_init "
    "ffn_dropout_prob fp32_lm_head fp32_residual_connection init_config init_device init_method "
    "init_std initializer_factor initializer_method initializer_range input_jitter_noise "
    "layerdrop mask_feature_length mask_feature_min_masks mask_feature_prob mask_time_length "
    "mask_time_min_masks mask_time_prob moe_dropout moe_jitter_eps moe_loss_weight "
    "moe_token_dropping output_router_logits recompute rescale_prenorm_residual residual_in_fp32 "
    "router_aux_loss_coef router_jitter_noise router_z_loss_coef seq_aux sequence_parallel "
    "use_recompute verbose z_loss_weight",
    // activations and norms: which, not how wide
    "activation activation_function activation_situ_beta activation_situ_linear_beta "
    "apply_residual_connection_post_layernorm clip_qkv do_layer_norm_before embedding_layernorm "
    "final_layer_norm gate_lower_bound gated_linear_unit gegelu_limit gegelu_pad_to_256 "
    "hidden_act hidden_activation layer_norm_type layernorm_compute_precision mamba_hidden_act "
    "mamba_norm_before_gate mixer_rms_eps mlp_hidden_act mlp_type norm_head norm_softmax "
    "norm_type normalization_function post_layer_norm projector_hidden_act rmsnorm sandwich_norm "
    "swiglu_alpha swiglu_limit swiglu_limits swiglu_limits_shared time_step_floor "
    "time_step_init_scheme time_step_limit time_step_max time_step_min time_step_scale "
    "use_gated_activation use_gemma_norm use_post_norm use_rms_norm",
    // positions and scores: how they are computed
    "alibi alibi_bias_max apply_query_key_layer_scaling attention_in_multiplier "
    "attention_multiplier attention_out_multiplier attention_softmax_in_fp32 "
    "attention_value_scale attn_logit_softcapping attn_scale attn_temperature_tuning "
    "deterministic dim_model_base embedding_multiplier final_logit_softcapping floor_scale "
    "key_multiplier layer_group_size learned_pos_emb lm_head_multiplier logit_scale "
    "logit_softcapping logits_scaling masked_softmax_fusion max_position_embeddings_scale "
    "mla_use_nope mlp_multipliers mup_attn_multiplier mup_denominator mup_embedding_multiplier "
    "mup_use_scaling mup_width_multiplier nope_layer_interval order_of_interleaved_layers "
    "output_multiplier pad_key_length parallel_attn partial_rotary_factor position_embedding_type "
    "query_pre_attn_scalar reorder_and_upcast_attn residual_multiplier rotary "
    "scale_attention_softmax_in_fp32 scale_attn_by_inverse_layer_idx scale_attn_weights "
    "scale_depth scale_emb scale_embedding slow_but_exact softmax_in_fp32 ssm_in_multiplier "
    "ssm_multipliers ssm_out_multiplier theta use_bidirectional_attention use_dynamic_ntk "
    "use_logn_attn use_mrope use_parallel_block use_parallel_embedding use_parallel_residual "
    "use_pos_enc",
    // routing: which experts, not how many
    "attn_factor attn_output_multiplier attn_temperature_len embedding_multiplier_scale "
    "embeddings_scale embeddings_scale_by_sqrt_dim enable_moe_fp32_combine expert_selection_fn "
    "moe_apply_router_weight_on_input moe_aux_loss_coeff moe_capacity moe_gate moe_renormalize "
    "moe_router_activation moe_router_activation_func moe_router_logit_softcapping "
    "moe_router_use_sigmoid moe_shared_expert_overlap moe_use_aux_free mup_embeddings_scale "
    "mup_output_alpha mup_scale_qk_dot_by_d mup_width_scale n_group norm_expert_weight "
    "norm_topk_prob num_expert_group num_expert_groups num_limited_groups output_multiplier_scale "
    "prefix_dense_sliding_window_pattern route_norm route_scale routed_scaling_factor "
    "router_bias_update_rate score_function scoring_func shared_expert_combination_strategy "
    "topk_group topk_method use_grouped_topk use_moe width_scale",
    // biases and heads that are absent, or that the family implies
    "attention_output_gate classifier_proj_size embd_layer head_dim lm_head mamba_proj_bias "
    "mtp_loss_scaling_factor mtp_transformer_layers mtp_use_dedicated_embeddings num_mtp_modules "
    "pad_sequence_to_multiple_of_64 projectors_bias qk_head_dim rm_head shared_intermediate_size "
    "summary_activation summary_first_dropout summary_proj_to_labels summary_type "
    "summary_use_proj use_embedding_sharing use_flash_attn use_fused_rms_norm use_mamba_kernels "
    "use_mtp use_weighted_layer_sum",
    // wrappers of vision and audio models
    "audio_config audio_soft_tokens_per_image candidate_resolutions downsample_ratio "
    "dynamic_image_size force_image_size freeze_mm_mlp_adapter freeze_mm_vision_resampler "
    "global_view_pos hidden_size ignore_index image_aspect_ratio image_grid_pinpoints "
    "image_placeholder image_seq_length image_split_resolution img_processor is_composition "
    "max_dynamic_patch min_dynamic_patch mm_hidden_size mm_projector_type mm_tokens_per_image "
    "mm_use_im_patch_token mm_use_im_start_end mm_vision_select_feature mm_vision_select_layer "
    "mm_vision_tower multimodal_projector_bias neftune_noise_alpha num_attention_heads "
    "num_image_tokens pad2square perceiver_config pixel_shuffle_factor process_image_mode "
    "projector_hidden_size ps_version qk_layer_norms select_layer spatial_merge_size template "
    "tie_word_embeddings tile_tag transformers_js_config tune_mm_mlp_adapter "
    "tune_mm_vision_resampler unfreeze_mm_vision_tower use_backbone_lora use_llm_lora use_mm_proj "
    "use_reentrant_checkpointing use_resampler use_thumbnail use_unified_vision_chunk "
    "video_placeholder vision_config vision_feature_layer vision_feature_select_strategy "
    "vision_soft_tokens_per_image vocab_size",
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

}  // namespace

bool is_irrelevant(std::string_view name) {
  const auto lists = [&](std::string_view words) { return has_word(words, name); };
  const auto starts = [&](std::string_view s) { return name.starts_with(s); };
  const auto ends = [&](std::string_view s) { return name.ends_with(s); };
  return std::any_of(std::begin(kIrrelevant), std::end(kIrrelevant), lists) ||
         std::any_of(std::begin(kHarmlessStarts), std::end(kHarmlessStarts), starts) ||
         std::any_of(std::begin(kHarmlessEnds), std::end(kHarmlessEnds), ends);
}

}  // namespace kvplan::huggingface
