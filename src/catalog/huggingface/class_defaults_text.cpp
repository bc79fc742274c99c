// SPDX-License-Identifier: Apache-2.0
// Text models' defaults. Source: the configuration classes of huggingface/transformers 5.24.0.
#include "catalog/huggingface/class_defaults.h"

namespace kvplan::huggingface {
namespace {

// A number of KV heads or a head's width stands here only where the class does not derive it.
constexpr ClassDefaults kText[] = {
    {"aria_text",
     "{hidden_size: 4096, intermediate_size: 4096, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 32000, moe_num_experts: 8, "
     "moe_topk: 2, moe_num_shared_experts: 2, max_position_embeddings: 2048}"},
    {"cohere",
     "{hidden_size: 8192, intermediate_size: 22528, num_hidden_layers: 40, "
     "num_attention_heads: 64, vocab_size: 256000, max_position_embeddings: 8192}"},
    {"cohere2",
     "{hidden_size: 8192, intermediate_size: 22528, num_hidden_layers: 40, "
     "num_attention_heads: 64, vocab_size: 256000, sliding_window: 4096, "
     "max_position_embeddings: 8192}"},
    {"deepseek_v2",
     "{hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 102400, num_experts: 64, "
     "moe_intermediate_size: 1407, n_shared_experts: 2, first_k_dense_replace: 0, "
     "kv_lora_rank: 512, q_lora_rank: 1536, qk_rope_head_dim: 64, qk_nope_head_dim: 128, "
     "v_head_dim: 128, max_position_embeddings: 2048}"},
    {"deepseek_v3",
     "{hidden_size: 7168, intermediate_size: 18432, num_hidden_layers: 61, "
     "num_attention_heads: 128, num_key_value_heads: 128, vocab_size: 129280, "
     "num_local_experts: 256, num_experts_per_tok: 8, moe_intermediate_size: 2048, "
     "n_shared_experts: 1, first_k_dense_replace: 3, kv_lora_rank: 512, q_lora_rank: 1536, "
     "qk_rope_head_dim: 64, qk_nope_head_dim: 128, v_head_dim: 128, "
     "max_position_embeddings: 4096}"},
    {"ernie4_5 paddleocr_vl_text",
     "{hidden_size: 1024, intermediate_size: 3072, num_hidden_layers: 18, "
     "num_attention_heads: 16, num_key_value_heads: 2, head_dim: 128, vocab_size: 103424, "
     "max_position_embeddings: 131072}"},
    {"ernie4_5_moe",
     "{hidden_size: 2560, intermediate_size: 12288, num_hidden_layers: 28, "
     "num_attention_heads: 20, num_key_value_heads: 4, vocab_size: 103424, num_experts: 64, "
     "num_experts_per_tok: 6, moe_intermediate_size: 1536, moe_num_shared_experts: 2, "
     "max_position_embeddings: 131072}"},
    {"ernie4_5_vl_moe_text",
     "{hidden_size: 2560, intermediate_size: 12288, num_hidden_layers: 28, "
     "num_attention_heads: 20, num_key_value_heads: 4, vocab_size: 103424, num_experts: 64, "
     "num_experts_per_tok: 6, moe_intermediate_size: [1536, 512], moe_num_shared_experts: 2, "
     "max_position_embeddings: 131072}"},
    {"exaone4",
     "{hidden_size: 4096, intermediate_size: 16384, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 32, vocab_size: 102400, "
     "sliding_window: 4096, max_position_embeddings: 2048}"},
    {"gemma",
     "{hidden_size: 3072, intermediate_size: 24576, num_hidden_layers: 28, "
     "num_attention_heads: 16, num_key_value_heads: 16, head_dim: 256, vocab_size: 256000, "
     "max_position_embeddings: 8192}"},
    {"gemma2",
     "{hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 26, "
     "num_attention_heads: 8, num_key_value_heads: 4, head_dim: 256, vocab_size: 256000, "
     "sliding_window: 4096, max_position_embeddings: 8192}"},
    {"gemma3_text",
     "{hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 26, "
     "num_attention_heads: 8, num_key_value_heads: 4, head_dim: 256, vocab_size: 262208, "
     "sliding_window: 4096, max_position_embeddings: 131072}"},
    {"gemma3n_text",
     "{hidden_size: 2048, intermediate_size: 16384, num_hidden_layers: 35, "
     "num_attention_heads: 8, num_key_value_heads: 2, head_dim: 256, vocab_size: 262400, "
     "sliding_window: 512, hidden_size_per_layer_input: 256, "
     "vocab_size_per_layer_input: 262144, num_kv_shared_layers: 15, laurel_rank: 64, "
     "altup_num_inputs: 4, max_position_embeddings: 32768}"},
    {"gemma4_text",
     "{hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 30, "
     "num_attention_heads: 8, num_key_value_heads: 4, head_dim: 256, vocab_size: 262144, "
     "sliding_window: 512, hidden_size_per_layer_input: 256, "
     "vocab_size_per_layer_input: 262144, num_kv_shared_layers: 0, "
     "max_position_embeddings: 131072}"},
    {"gemma4_unified_text",
     "{hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 30, "
     "num_attention_heads: 8, num_key_value_heads: 4, head_dim: 256, vocab_size: 262144, "
     "sliding_window: 1024, num_kv_shared_layers: 0, max_position_embeddings: 262144}"},
    {"glm4",
     "{hidden_size: 4096, intermediate_size: 13696, num_hidden_layers: 40, "
     "num_attention_heads: 32, num_key_value_heads: 2, head_dim: 128, vocab_size: 151552, "
     "attention_bias: true, max_position_embeddings: 131072}"},
    {"glm4_moe",
     "{hidden_size: 4096, intermediate_size: 10944, num_hidden_layers: 46, "
     "num_attention_heads: 96, num_key_value_heads: 8, vocab_size: 151552, "
     "num_local_experts: 128, num_experts_per_tok: 8, moe_intermediate_size: 1408, "
     "n_shared_experts: 1, first_k_dense_replace: 1, max_position_embeddings: 131072}"},
    {"glm4v_moe_text",
     "{hidden_size: 4096, intermediate_size: 10944, num_hidden_layers: 46, "
     "num_attention_heads: 96, num_key_value_heads: 8, vocab_size: 151424, "
     "num_local_experts: 128, num_experts_per_tok: 8, moe_intermediate_size: 1408, "
     "n_shared_experts: 1, first_k_dense_replace: 1, attention_bias: true, "
     "max_position_embeddings: 65536}"},
    {"glm4v_text",
     "{hidden_size: 4096, intermediate_size: 13696, num_hidden_layers: 40, "
     "num_attention_heads: 32, num_key_value_heads: 2, vocab_size: 151552, "
     "max_position_embeddings: 32768}"},
    {"glm_moe_dsa",
     "{hidden_size: 6144, intermediate_size: 12288, num_hidden_layers: 78, "
     "num_attention_heads: 64, num_key_value_heads: 64, head_dim: 64, vocab_size: 154880, "
     "num_local_experts: 256, num_experts_per_tok: 8, moe_intermediate_size: 2048, "
     "n_shared_experts: 1, first_k_dense_replace: 3, kv_lora_rank: 512, q_lora_rank: 2048, "
     "qk_rope_head_dim: 64, qk_nope_head_dim: 192, v_head_dim: 256, index_topk: 2048, "
     "index_n_heads: 32, index_head_dim: 128, max_position_embeddings: 202752}"},
    {"glm_ocr_text",
     "{hidden_size: 1024, intermediate_size: 4096, num_hidden_layers: 16, "
     "num_attention_heads: 16, num_key_value_heads: 8, vocab_size: 59392, "
     "max_position_embeddings: 131072}"},
    {"gpt_oss",
     "{hidden_size: 2880, intermediate_size: 2880, num_hidden_layers: 36, "
     "num_attention_heads: 64, num_key_value_heads: 8, head_dim: 64, vocab_size: 201088, "
     "sliding_window: 128, num_local_experts: 128, num_experts_per_tok: 4, "
     "attention_bias: true, max_position_embeddings: 131072}"},
    {"granite hyperclovax llama",
     "{hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 32000, max_position_embeddings: 2048}"},
    {"granitemoe",
     "{hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 32000, num_local_experts: 8, "
     "num_experts_per_tok: 2, max_position_embeddings: 2048}"},
    {"granitemoehybrid",
     "{hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 32000, num_local_experts: 8, "
     "num_experts_per_tok: 2, shared_intermediate_size: 1024, max_position_embeddings: 2048}"},
    {"hunyuan_v1_dense",
     "{hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 290943, max_position_embeddings: 2048}"},
    {"internlm3",
     "{hidden_size: 4096, intermediate_size: 10240, num_hidden_layers: 48, "
     "num_attention_heads: 32, num_key_value_heads: 2, head_dim: 128, vocab_size: 128512, "
     "max_position_embeddings: 32768}"},
    {"kimi_linear",
     "{hidden_size: 2304, intermediate_size: 9216, num_hidden_layers: 27, "
     "num_attention_heads: 32, num_key_value_heads: 32, vocab_size: 163840, "
     "num_local_experts: 256, num_experts_per_tok: 8, moe_intermediate_size: 1024, "
     "n_shared_experts: 1, kv_lora_rank: 512, qk_rope_head_dim: 64, qk_nope_head_dim: 128, "
     "v_head_dim: 128, linear_conv_kernel_dim: 4}"},
    {"lfm2",
     "{hidden_size: 2560, intermediate_size: 12288, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 65536, conv_L_cache: 3, "
     "max_position_embeddings: 128000}"},
    {"lfm2_moe",
     "{hidden_size: 2048, intermediate_size: 7168, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 65536, num_experts: 32, "
     "num_experts_per_tok: 4, moe_intermediate_size: 1792, conv_L_cache: 3, "
     "num_dense_layers: 2, max_position_embeddings: 128000}"},
    {"llama4_text",
     "{hidden_size: 5120, intermediate_size: 8192, num_hidden_layers: 48, "
     "num_attention_heads: 40, num_key_value_heads: 8, head_dim: 128, vocab_size: 202048, "
     "attention_chunk_size: 8192, num_local_experts: 16, num_experts_per_tok: 1, "
     "num_shared_experts: 1, "
     "intermediate_size_mlp: 16384, max_position_embeddings: 131072}"},
    {"minimax_m2",
     "{hidden_size: 3072, intermediate_size: 1536, num_hidden_layers: 62, "
     "num_attention_heads: 48, num_key_value_heads: 8, head_dim: 128, vocab_size: 200064, "
     "num_local_experts: 256, num_experts_per_tok: 8, max_position_embeddings: 196608}"},
    {"minimax_m3_vl_text",
     "{hidden_size: 6144, intermediate_size: 3072, num_hidden_layers: 60, "
     "num_attention_heads: 64, num_key_value_heads: 4, head_dim: 128, vocab_size: 200064, "
     "num_local_experts: 128, num_experts_per_tok: 4, shared_intermediate_size: 3072, "
     "index_n_heads: 4, index_head_dim: 128, dense_intermediate_size: 12288, "
     "max_position_embeddings: 524288}"},
    {"ministral3",
     "{hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 34, "
     "num_attention_heads: 32, num_key_value_heads: 8, head_dim: 128, vocab_size: 131072, "
     "max_position_embeddings: 262144}"},
    {"mistral",
     "{hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 32000, "
     "sliding_window: 4096, max_position_embeddings: 131072}"},
    {"mistral4",
     "{hidden_size: 4096, intermediate_size: 12288, num_hidden_layers: 36, "
     "num_attention_heads: 32, num_key_value_heads: 32, vocab_size: 131072, "
     "num_local_experts: 128, num_experts_per_tok: 4, moe_intermediate_size: 2048, "
     "n_shared_experts: 1, first_k_dense_replace: 0, kv_lora_rank: 256, q_lora_rank: 1024, "
     "qk_rope_head_dim: 64, qk_nope_head_dim: 64, v_head_dim: 128, "
     "max_position_embeddings: 1048576}"},
    {"mixtral",
     "{hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 32000, "
     "num_local_experts: 8, num_experts_per_tok: 2, max_position_embeddings: 131072}"},
    {"mllama_text_model",
     "{hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 40, "
     "num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 128256, "
     "cross_attention_layers: [3, 8, 13, 18, 23, 28, 33, 38], max_position_embeddings: 131072}"},
    {"molmo2_text",
     "{hidden_size: 4096, intermediate_size: 12288, num_hidden_layers: 36, "
     "num_attention_heads: 32, num_key_value_heads: 8, head_dim: 128, vocab_size: 151936, "
     "additional_vocab_size: 128, max_position_embeddings: 36864}"},
    {"nemotron_h",
     "{hidden_size: 4096, intermediate_size: 21504, num_hidden_layers: 4, "
     "num_attention_heads: 32, num_key_value_heads: 8, head_dim: 128, vocab_size: 131072, "
     "num_local_experts: 8, num_experts_per_tok: 2, moe_intermediate_size: 7688, "
     "n_shared_experts: 1, max_position_embeddings: 4096}"},
    {"olmo2",
     "{hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 50304, max_position_embeddings: 2048}"},
    {"olmo3",
     "{hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 50304, sliding_window: 4096, "
     "max_position_embeddings: 2048}"},
    {"opt",
     "{hidden_size: 768, num_hidden_layers: 12, num_attention_heads: 12, vocab_size: 50272, "
     "ffn_dim: 3072, word_embed_proj_dim: 768, max_position_embeddings: 2048}"},
    {"persimmon",
     "{hidden_size: 4096, intermediate_size: 16384, num_hidden_layers: 36, "
     "num_attention_heads: 64, vocab_size: 262144, max_position_embeddings: 16384}"},
    {"phi3",
     "{hidden_size: 3072, intermediate_size: 8192, num_hidden_layers: 32, "
     "num_attention_heads: 32, vocab_size: 32064, max_position_embeddings: 4096}"},
    {"phi4_multimodal",
     "{hidden_size: 3072, intermediate_size: 8192, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 200064, "
     "max_position_embeddings: 131072}"},
    {"qwen2",
     "{hidden_size: 4096, intermediate_size: 22016, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 32, vocab_size: 151936, "
     "sliding_window: 4096, use_sliding_window: false, max_position_embeddings: 32768}"},
    {"qwen2_5_omni_text",
     "{hidden_size: 3584, intermediate_size: 18944, num_hidden_layers: 28, "
     "num_attention_heads: 28, num_key_value_heads: 4, vocab_size: 152064, "
     "sliding_window: 32768, use_sliding_window: false, max_position_embeddings: 32768}"},
    {"qwen2_5_vl_text qwen2_vl_text",
     "{hidden_size: 8192, intermediate_size: 29568, num_hidden_layers: 80, "
     "num_attention_heads: 64, num_key_value_heads: 8, vocab_size: 152064, "
     "sliding_window: 4096, use_sliding_window: false, max_position_embeddings: 32768}"},
    {"qwen2_moe",
     "{hidden_size: 2048, intermediate_size: 5632, num_hidden_layers: 24, "
     "num_attention_heads: 16, num_key_value_heads: 16, vocab_size: 151936, "
     "sliding_window: 4096, num_experts: 60, num_experts_per_tok: 4, "
     "moe_intermediate_size: 1408, shared_expert_intermediate_size: 5632, "
     "use_sliding_window: false, max_position_embeddings: 32768}"},
    {"qwen3",
     "{hidden_size: 4096, intermediate_size: 22016, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 32, head_dim: 128, vocab_size: 151936, "
     "sliding_window: 4096, use_sliding_window: false, max_position_embeddings: 32768}"},
    {"qwen3_5_moe_text",
     "{hidden_size: 2048, num_hidden_layers: 40, num_attention_heads: 16, "
     "num_key_value_heads: 2, head_dim: 256, vocab_size: 248320, num_experts: 256, "
     "num_experts_per_tok: 8, moe_intermediate_size: 512, "
     "shared_expert_intermediate_size: 512, linear_num_key_heads: 16, "
     "linear_num_value_heads: 32, linear_key_head_dim: 128, linear_value_head_dim: 128, "
     "linear_conv_kernel_dim: 4, max_position_embeddings: 32768}"},
    {"qwen3_5_text",
     "{hidden_size: 4096, intermediate_size: 12288, num_hidden_layers: 32, "
     "num_attention_heads: 16, num_key_value_heads: 4, head_dim: 256, vocab_size: 248320, "
     "linear_num_key_heads: 16, linear_num_value_heads: 32, linear_key_head_dim: 128, "
     "linear_value_head_dim: 128, linear_conv_kernel_dim: 4, max_position_embeddings: 32768}"},
    {"qwen3_moe",
     "{hidden_size: 2048, intermediate_size: 6144, num_hidden_layers: 24, "
     "num_attention_heads: 32, num_key_value_heads: 4, vocab_size: 151936, "
     "sliding_window: 4096, num_local_experts: 128, num_experts_per_tok: 8, "
     "moe_intermediate_size: 768, use_sliding_window: false, max_position_embeddings: 32768}"},
    {"qwen3_next",
     "{hidden_size: 2048, intermediate_size: 5632, num_hidden_layers: 48, "
     "num_attention_heads: 16, num_key_value_heads: 2, head_dim: 256, vocab_size: 151936, "
     "num_experts: 512, num_experts_per_tok: 10, moe_intermediate_size: 512, "
     "shared_expert_intermediate_size: 512, linear_num_key_heads: 16, "
     "linear_num_value_heads: 32, linear_key_head_dim: 128, linear_value_head_dim: 128, "
     "linear_conv_kernel_dim: 4, max_position_embeddings: 32768}"},
    {"qwen3_omni_moe_text",
     "{hidden_size: 2048, intermediate_size: 18944, num_hidden_layers: 28, "
     "num_attention_heads: 28, num_key_value_heads: 4, vocab_size: 3584, num_experts: 128, "
     "num_experts_per_tok: 8, moe_intermediate_size: 768, max_position_embeddings: 32768}"},
    {"qwen3_vl_moe_text",
     "{hidden_size: 2048, intermediate_size: 5632, num_hidden_layers: 24, "
     "num_attention_heads: 16, num_key_value_heads: 16, vocab_size: 151936, "
     "num_local_experts: 60, num_experts_per_tok: 4, moe_intermediate_size: 1408, "
     "max_position_embeddings: 128000}"},
    {"qwen3_vl_text",
     "{hidden_size: 4096, intermediate_size: 22016, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 32, head_dim: 128, vocab_size: 151936, "
     "max_position_embeddings: 128000}"},
    {"seed_oss",
     "{hidden_size: 4096, intermediate_size: 27648, num_hidden_layers: 64, "
     "num_attention_heads: 80, num_key_value_heads: 8, head_dim: 128, vocab_size: 155136, "
     "attention_bias: true, max_position_embeddings: 524288}"},
    {"smollm3",
     "{hidden_size: 2048, intermediate_size: 11008, num_hidden_layers: 36, "
     "num_attention_heads: 16, num_key_value_heads: 4, vocab_size: 128256, "
     "use_sliding_window: false, max_position_embeddings: 32768}"},
    {"stablelm",
     "{hidden_size: 2560, intermediate_size: 6912, num_hidden_layers: 32, "
     "num_attention_heads: 32, num_key_value_heads: 32, vocab_size: 50304, "
     "max_position_embeddings: 4096}"},
    {"starcoder2",
     "{hidden_size: 3072, intermediate_size: 12288, num_hidden_layers: 30, "
     "num_attention_heads: 24, num_key_value_heads: 2, vocab_size: 49152, "
     "max_position_embeddings: 4096}"},
    {"step3p5",
     "{hidden_size: 4096, intermediate_size: 11264, num_hidden_layers: 45, "
     "num_attention_heads: 64, num_key_value_heads: 8, head_dim: 128, vocab_size: 128815, "
     "num_local_experts: 288, num_experts_per_tok: 8, moe_intermediate_size: 1280, "
     "share_expert_dim: 1280, max_position_embeddings: 128000}"},
};

}  // namespace

std::span<const ClassDefaults> text_class_defaults() { return kText; }

}  // namespace kvplan::huggingface
