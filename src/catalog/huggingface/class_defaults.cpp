// SPDX-License-Identifier: Apache-2.0
// Source: the configuration classes of huggingface/transformers, v4.57 and v5.
#include "catalog/huggingface/class_defaults.h"

#include "word_list.h"

namespace kvplan::huggingface {
namespace {

struct Defaults {
  std::string_view types;  // model_type values, separated by blanks
  std::string_view keys;
};

// A number of KV heads or a head's width stands here only where the class does not derive it.
constexpr Defaults kText[] = {
    {"llama",
     "{hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 32000, max_position_embeddings: 2048}"},
    {"mistral",
     "{hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 32000, sliding_window: 4096, "
     "max_position_embeddings: 131072}"},
    {"mixtral",
     "{hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 32000, num_local_experts: 8, "
     "num_experts_per_tok: 2, max_position_embeddings: 131072}"},
    {"ministral3",
     "{hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 34, "
     "num_attention_heads: 32, num_key_value_heads: 8, head_dim: 128, vocab_size: 131072, "
     "max_position_embeddings: 262144}"},
    {"gemma",
     "{hidden_size: 3072, intermediate_size: 24576, num_hidden_layers: 28, "
     "num_attention_heads: 16, num_key_value_heads: 16, head_dim: 256, vocab_size: 256000, "
     "max_position_embeddings: 8192}"},
    {"gemma2",
     "{hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 26, num_attention_heads: 8, "
     "num_key_value_heads: 4, head_dim: 256, vocab_size: 256000, sliding_window: 4096, "
     "max_position_embeddings: 8192}"},
    {"gemma3_text",
     "{hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 26, num_attention_heads: 8, "
     "num_key_value_heads: 4, head_dim: 256, vocab_size: 262208, sliding_window: 4096, "
     "max_position_embeddings: 131072}"},
    {"gemma3n_text",
     "{hidden_size: 2048, intermediate_size: 16384, num_hidden_layers: 35, "
     "num_attention_heads: 8, num_key_value_heads: 2, head_dim: 256, vocab_size: 262400, "
     "sliding_window: 512, laurel_rank: 64, altup_num_inputs: 4, num_kv_shared_layers: 15, "
     "hidden_size_per_layer_input: 256, vocab_size_per_layer_input: 262144, "
     "max_position_embeddings: 32768}"},
    {"gemma4_text",
     "{hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 30, num_attention_heads: 8, "
     "num_key_value_heads: 4, head_dim: 256, global_head_dim: 512, vocab_size: 262144, "
     "sliding_window: 512, hidden_size_per_layer_input: 256, vocab_size_per_layer_input: 262144, "
     "max_position_embeddings: 131072}"},
    {"qwen2",
     "{hidden_size: 4096, intermediate_size: 22016, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 32, vocab_size: 151936, "
     "use_sliding_window: false, max_position_embeddings: 32768}"},
    {"qwen2_vl_text qwen2_5_vl_text",
     "{hidden_size: 8192, intermediate_size: 29568, num_hidden_layers: 80, "
     "num_attention_heads: 64, num_key_value_heads: 8, vocab_size: 152064, "
     "use_sliding_window: false, max_position_embeddings: 32768}"},
    {"qwen3 qwen3_vl_text",
     "{hidden_size: 4096, intermediate_size: 22016, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 32, head_dim: 128, vocab_size: 151936, "
     "use_sliding_window: false}"},
    {"qwen3_moe",
     "{hidden_size: 2048, intermediate_size: 6144, num_hidden_layers: 24, "
     "num_attention_heads: 32, num_key_value_heads: 4, vocab_size: 151936, num_experts: 128, "
     "num_experts_per_tok: 8, moe_intermediate_size: 768, use_sliding_window: false, "
     "max_position_embeddings: 32768}"},
    {"qwen2_5_omni_text",
     "{hidden_size: 3584, intermediate_size: 18944, num_hidden_layers: 28, "
     "num_attention_heads: 28, num_key_value_heads: 4, vocab_size: 152064, "
     "use_sliding_window: false, max_position_embeddings: 32768}"},
    {"phi3",
     "{hidden_size: 3072, intermediate_size: 8192, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 32064, max_position_embeddings: 4096}"},
    {"cohere",
     "{hidden_size: 8192, intermediate_size: 22528, num_hidden_layers: 40, "
     "num_attention_heads: 64, vocab_size: 256000, max_position_embeddings: 8192}"},
    {"cohere2",
     "{hidden_size: 8192, intermediate_size: 22528, num_hidden_layers: 40, "
     "num_attention_heads: 64, vocab_size: 256000, sliding_window: 4096, "
     "max_position_embeddings: 8192}"},
    {"llama4_text",
     "{hidden_size: 5120, intermediate_size: 8192, intermediate_size_mlp: 16384, "
     "num_hidden_layers: 48, num_attention_heads: 40, num_key_value_heads: 8, head_dim: 128, "
     "vocab_size: 202048, num_local_experts: 16, num_experts_per_tok: 1, num_shared_experts: 1, "
     "attention_chunk_size: 8192, max_position_embeddings: 131072}"},
    {"glm4v_text",
     "{hidden_size: 4096, intermediate_size: 13696, num_hidden_layers: 40, "
     "num_attention_heads: 32, num_key_value_heads: 2, vocab_size: 151552, "
     "max_position_embeddings: 32768}"},
    {"glm4v_moe_text",
     "{hidden_size: 4096, intermediate_size: 10944, num_hidden_layers: 46, "
     "num_attention_heads: 96, num_key_value_heads: 8, vocab_size: 151424, attention_bias: true, "
     "n_routed_experts: 128, num_experts_per_tok: 8, moe_intermediate_size: 1408, "
     "n_shared_experts: 1, first_k_dense_replace: 1, max_position_embeddings: 65536}"},
    {"mllama_text_model",
     "{hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 40, "
     "num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 128256, "
     "cross_attention_layers: [3, 8, 13, 18, 23, 28, 33, 38], max_position_embeddings: 131072}"},
    {"smollm3",
     "{hidden_size: 2048, intermediate_size: 11008, num_hidden_layers: 36, "
     "num_attention_heads: 16, num_key_value_heads: 4, vocab_size: 128256, "
     "use_sliding_window: false, max_position_embeddings: 32768}"},
};

constexpr Defaults kTowers[] = {
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
};

}  // namespace

std::string_view class_defaults(std::string_view model_type) {
  if (model_type.empty()) return {};
  for (const Defaults& d : kText)
    if (has_word(d.types, model_type)) return d.keys;
  for (const Defaults& d : kTowers)
    if (has_word(d.types, model_type)) return d.keys;
  return {};
}

}  // namespace kvplan::huggingface
