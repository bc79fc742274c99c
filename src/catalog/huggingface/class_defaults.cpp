// SPDX-License-Identifier: Apache-2.0
// Source: the configuration classes of huggingface/transformers, v4.57 and v5.
#include "catalog/huggingface/class_defaults.h"

#include "word_list.h"

namespace kvplan::huggingface {
namespace {

constexpr ClassDefaults kTowers[] = {
    {"clip_vision_model",
     "{hidden_size: 768, intermediate_size: 3072, num_hidden_layers: 12, image_size: 224, "
     "patch_size: 32}"},
    {"siglip_vision_model siglip2_vision_model",
     "{hidden_size: 768, intermediate_size: 3072, num_hidden_layers: 12, image_size: 224, "
     "patch_size: 16, num_patches: 256, vision_use_head: true}"},
    {"headless_siglip",
     "{hidden_size: 768, intermediate_size: 3072, num_hidden_layers: 12, image_size: 224, "
     "patch_size: 16}"},
    {"idefics2 idefics2_vision",
     "{hidden_size: 768, intermediate_size: 3072, num_hidden_layers: 12, image_size: 224, "
     "patch_size: 32}"},
    {"idefics3 idefics3_vision smolvlm_vision",
     "{hidden_size: 1152, intermediate_size: 3072, num_hidden_layers: 12, image_size: 224, "
     "patch_size: 32}"},
    {"pixtral",
     "{hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 24, image_size: 1024, "
     "patch_size: 16}"},
    {"internvl_vision",
     "{hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 24, image_size: 448, "
     "patch_size: 14, attention_bias: false}"},
    {"intern_vit_6b",
     "{hidden_size: 3200, intermediate_size: 12800, num_hidden_layers: 48, image_size: 224, "
     "patch_size: 14, qkv_bias: false, qk_normalization: true, norm_type: rms_norm}"},
    {"gemma4_vision",
     "{hidden_size: 768, intermediate_size: 3072, num_hidden_layers: 16, num_attention_heads: 12, "
     "num_key_value_heads: 12, head_dim: 64, patch_size: 16, position_embedding_size: 10240}"},
    {"glm4v_vision glm4v_moe_vision",
     "{hidden_size: 1536, intermediate_size: 13696, depth: 24, image_size: 336, patch_size: 14, "
     "out_hidden_size: 4096, temporal_patch_size: 2, spatial_merge_size: 2}"},
    {"qwen2_5_vl",
     "{hidden_size: 3584, intermediate_size: 3420, depth: 32, patch_size: 14, "
     "out_hidden_size: 3584, temporal_patch_size: 2}"},
    {"qwen2_vl",
     "{embed_dim: 1280, depth: 32, mlp_ratio: 4, patch_size: 14, "
     "temporal_patch_size: 2}"},
    {"moonvit kimi_k25",
     "{hidden_size: 1152, intermediate_size: 4304, num_hidden_layers: 27, patch_size: 14, "
     "init_pos_emb_height: 64, init_pos_emb_width: 64}"},
    {"qwen3_vl",
     "{hidden_size: 1152, intermediate_size: 4304, depth: 27, patch_size: 16, "
     "out_hidden_size: 3584, temporal_patch_size: 2, num_position_embeddings: 2304, "
     "deepstack_visual_indexes: [8, 16, 24]}"},
    {"qwen3_5",
     "{hidden_size: 1152, intermediate_size: 4304, depth: 27, patch_size: 16, "
     "out_hidden_size: 3584, temporal_patch_size: 2, num_position_embeddings: 2304}"},
    {"qianfan_ocr_vision",
     "{hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 24, image_size: 448, "
     "patch_size: 14, attention_bias: true}"},
    {"qwen3_asr_encoder",
     "{d_model: 1024, encoder_layers: 24, encoder_ffn_dim: 4096, num_mel_bins: 128, "
     "downsample_hidden_size: 480, output_dim: 3584}"},
    {"paddleocr_vl_vision",
     "{hidden_size: 1152, intermediate_size: 4304, num_hidden_layers: 27, image_size: 384, "
     "patch_size: 14}"},
    {"video_llama_3_vision",
     "{hidden_size: 768, intermediate_size: 3072, num_hidden_layers: 12, patch_size: 16}"},
    {"ovis2_vision",
     "{hidden_size: 1024, intermediate_size: 2816, num_hidden_layers: 24, image_size: 224, "
     "patch_size: 14, vocab_size: 16384}"},
    {"sam_vision_model",
     "{hidden_size: 768, num_hidden_layers: 12, num_attention_heads: 12, image_size: 1024, "
     "patch_size: 16, output_channels: 256, window_size: 14, mlp_dim: 3072, "
     "global_attn_indexes: [2, 5, 8, 11]}"},
    {"step3p5_vision",
     "{hidden_size: 1536, num_hidden_layers: 47, image_size: 728, patch_size: 14}"},
    {"glm_ocr_vision",
     "{hidden_size: 1024, intermediate_size: 4096, depth: 24, image_size: 336, patch_size: 14, "
     "out_hidden_size: 1536, temporal_patch_size: 2, num_heads: 16}"},
    {"ernie4_5_vl_moe_vision",
     "{hidden_size: 1280, intermediate_size: 5120, depth: 32, patch_size: 14}"},
    {"molmo2_vision",
     "{hidden_size: 1152, intermediate_size: 4304, num_hidden_layers: 25, patch_size: 14}"},
    {"exaone4_5_vision",
     "{hidden_size: 3584, intermediate_size: 3420, depth: 32, patch_size: 14, num_heads: 16, "
     "num_key_value_heads: 8, out_hidden_size: 3584, temporal_patch_size: 2}"},
    {"llama4_vision_model",
     "{hidden_size: 768, intermediate_size: 5632, num_hidden_layers: 34, image_size: 448, "
     "patch_size: 14, projector_input_dim: 4096, projector_output_dim: 4096, "
     "vision_output_dim: 7680}"},
    {"mllama_vision_model",
     "{hidden_size: 1280, intermediate_size: 5120, num_hidden_layers: 32, image_size: 448, "
     "patch_size: 14, vision_output_dim: 7680, max_num_tiles: 4, num_global_layers: 8, "
     "supported_aspect_ratios: [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], "
     "[4, 1]]}"},
    {"minimax_m3_vl_vision",
     "{hidden_size: 1280, intermediate_size: 5120, num_hidden_layers: 32, image_size: 2016, "
     "patch_size: 14, temporal_patch_size: 2}"},
};

}  // namespace

std::string_view class_defaults(std::string_view model_type) {
  if (model_type.empty()) return {};
  for (const auto& table : {text_class_defaults(), std::span<const ClassDefaults>(kTowers)})
    for (const ClassDefaults& d : table)
      if (has_word(d.types, model_type)) return d.keys;
  return {};
}

}  // namespace kvplan::huggingface
