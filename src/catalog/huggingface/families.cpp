// SPDX-License-Identifier: Apache-2.0
// One row a family. Sources: the model authors' published modelling code and the exact totals of
// their safetensors files; tests/truth/parameters.yaml holds these rows against the totals.
#include <span>

#include "catalog/huggingface/special.h"
#include "word_list.h"

namespace kvplan::huggingface {
namespace {

constexpr auto kLayerNorm = Family::layer_norm;
constexpr auto kNoBias = Family::layer_norm_without_bias;
constexpr auto kPerHead = Family::per_head;
constexpr auto kPerLayer = Family::per_layer;

// clang-format off: a row a line or two

// Decoders as Llama's, but for a trait or two.
constexpr Family kGated[] = {
    {.types = "llama",
     .nested_defaults = "{hidden_size: 4096, intermediate_size: 11008, num_hidden_layers: 32, "
                        "num_attention_heads: 32, vocab_size: 32000}"},
    {.types = "mistral",
     .nested_defaults = "{hidden_size: 4096, intermediate_size: 14336, num_hidden_layers: 32, "
                        "num_attention_heads: 32, num_key_value_heads: 8, vocab_size: 32000}"},
    {.types = "ministral ministral3 mixtral baichuan xverse aquila Yi internlm "
              "internlm2 deepseek deepseek_v2 deepseek_v3 deepseek_v32 glm_moe_dsa kimi_k2 exaone "
              "granite granitemoe granitemoeshared phi3 phi3_v smollm3 bailing_moe "
              "glm4_moe_lite"},
    {.types = "apertus", .qk_norm = kPerHead, .gated = false},
    {.types = "bailing_moe_v2", .qk_norm = kPerHead, .router_bias = true},
    {.types = "cohere",
     .tied = true,
     .norm = kNoBias,
     .norms = 1,
     .qk_norm = kPerLayer,
     .qk_norm_on_request = true},
    {.types = "cohere2", .tied = true, .norm = kNoBias, .norms = 1, .global_every = 4},
    {.types = "dbrx", .norm = kNoBias},
    {.types = "dots1", .qk_norm = kPerHead},
    {.types = "ernie4_5", .tied = true},
    {.types = "ernie4_5_moe", .tied = true, .router_bias = true},
    {.types = "exaone4", .qk_norm = kPerHead},
    {.types = "gemma", .tied = true},
    {.types = "gemma2", .tied = true, .norms = 4, .global_every = 2},
    {.types = "gemma3 gemma3_text",
     .tied = true,
     .norms = 4,
     .qk_norm = kPerHead,
     .global_every = 6,
     .nested_defaults = "{num_attention_heads: 8, num_key_value_heads: 4, head_dim: 256, "
                        "vocab_size: 262208, max_position_embeddings: 131072, "
                        "sliding_window: 4096}"},
    {.types = "glm", .bias_reaches_o = false},
    {.types = "glm4", .norms = 4, .bias_reaches_o = false},
    {.types = "glm4_moe",
     .qk_norm = kPerHead,
     .qk_norm_on_request = true,
     .bias_reaches_o = false,
     .router_bias = true},
    {.types = "hunyuan_v1_dense hunyuan_v1_moe hunyuan",
     .qk_norm = kPerHead,
     .qk_norm_on_request = true},
    {.types = "internlm3", .bias_reaches_o = false},
    {.types = "llama4 llama4_text", .defaults = "{num_shared_experts: 1}"},
    {.types = "llava"},
    {.types = "mimo", .bias_reaches_o = false},
    {.types = "minicpm minicpm3", .tied = true},
    {.types = "minimax_m2", .qk_norm = kPerLayer},
    {.types = "olmo", .norm = Family::unweighted},
    {.types = "olmo2 olmo3", .qk_norm = kPerLayer},
    {.types = "olmoe", .qk_norm = kPerLayer},
    {.types = "orion", .norm = kLayerNorm},
    {.types = "phimoe", .norm = kLayerNorm, .qkv_bias = true, .o_bias = true},
    {.types = "qwen", .qkv_bias = true, .inner_divisor = 2},
    {.types = "qwen2 qwen2_vl qwen2_5_vl qwen2_5_vl_text qwen2_vl_text",
     .qkv_bias = true,
     .defaults = "{use_sliding_window: false}"},
    {.types = "qwen2_moe",
     .qkv_bias = true,
     .shared_gate = true,
     .defaults = "{use_sliding_window: false}"},
    {.types = "qwen3 qwen3_moe qwen3_vl qwen3_vl_text qwen3_vl_moe qwen3_vl_moe_text",
     .qk_norm = kPerHead,
     .shared_gate = true,
     .defaults = "{use_sliding_window: false}"},
    {.types = "qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text",
     .qk_norm = kPerHead,
     .shared_gate = true},
    {.types = "qwen3_next",
     .qk_norm = kPerHead,
     .output_gate = true,
     .shared_gate = true,
     .mtp_layers = 1},
    {.types = "seed_oss", .qkv_bias = true, .bias_reaches_o = false},
    {.types = "stablelm", .norm = kLayerNorm, .bias_reaches_o = false},
};

// Feed-forwards of two matrices, mostly with biases everywhere.
constexpr Family kPlain[] = {
    {.types = "arcee", .gated = false},
    {.types = "bert",
     .norm = kLayerNorm,
     .gated = false,
     .mlp_bias = true,
     .embedding_norm = true,
     .extra_positions = 0,
     .layer = bert_layer,
     .finish = finish_bert},
    {.types = "roberta xlm-roberta",
     .norm = kLayerNorm,
     .gated = false,
     .mlp_bias = true,
     .embedding_norm = true,
     .extra_positions = 0,
     .layer = bert_layer,
     .finish = finish_bert},
    {.types = "bloom",
     .tied = true,
     .norm = kLayerNorm,
     .gated = false,
     .qkv_bias = true,
     .o_bias = true,
     .mlp_bias = true,
     .embedding_norm = true},
    {.types = "falcon", .tied = true, .norm = kLayerNorm, .gated = false, .layer = falcon_layer},
    {.types = "gpt2 gpt_bigcode",
     .tied = true,
     .norm = kLayerNorm,
     .gated = false,
     .qkv_bias = true,
     .o_bias = true,
     .mlp_bias = true,
     .extra_positions = 0},
    {.types = "gpt_neox",
     .norm = kLayerNorm,
     .gated = false,
     .qkv_bias = true,
     .o_bias = true,
     .mlp_bias = true},
    {.types = "gptj",
     .norm = kLayerNorm,
     .norms = 1,
     .gated = false,
     .mlp_bias = true,
     .head_bias = true,
     .defaults = "{tie_word_embeddings: false}"},
    {.types = "mpt", .tied = true, .norm = kNoBias, .gated = false},
    {.types = "nemotron", .norm = kLayerNorm, .gated = false},
    {.types = "opt",
     .tied = true,
     .norm = kLayerNorm,
     .gated = false,
     .qkv_bias = true,
     .o_bias = true,
     .mlp_bias = true,
     .extra_positions = 2},
    {.types = "phi",
     .norm = kLayerNorm,
     .norms = 1,
     .gated = false,
     .qkv_bias = true,
     .o_bias = true,
     .mlp_bias = true,
     .head_bias = true},
    {.types = "phi3small",
     .tied = true,
     .norm = kLayerNorm,
     .qkv_bias = true,
     .o_bias = true,
     .mlp_bias = true,
     .layer = phi3small_layer},
    {.types = "starcoder2",
     .tied = true,
     .norm = kLayerNorm,
     .gated = false,
     .qkv_bias = true,
     .o_bias = true,
     .mlp_bias = true},
    {.types = "t5 mt5 umt5", .tied = true, .gated = false, .layer = t5_layer, .finish = finish_t5},
    {.types = "whisper",
     .tied = true,
     .norm = kLayerNorm,
     .gated = false,
     .mlp_bias = true,
     .extra_positions = 0,
     .layer = whisper_layer,
     .finish = finish_whisper},
};

// Layers of their own kind.
constexpr Family kSpecial[] = {
    {.types = "bamba granitemoehybrid", .layer = mamba2_hybrid_layer},
    {.types = "chatglm", .bias_reaches_o = false, .finish = finish_chatglm},
    {.types = "deepseek_v4 deepseek_ref", .layer = deepseek_v4_layer, .finish = finish_deepseek_v4},
    {.types = "falcon_h1", .layer = falcon_h1_layer},
    {.types = "falcon_mamba", .norms = 1, .layer = mamba_layer},
    {.types = "gemma3n gemma3n_text",
     .tied = true,
     .norms = 4,
     .qk_norm = kPerHead,
     .layer = gemma3n_layer,
     .finish = finish_gemma3n},
    {.types = "gemma4 gemma4_text",
     .tied = true,
     .norms = 4,
     .qk_norm = kPerHead,
     .layer = gemma4_layer,
     .finish = finish_gemma4},
    {.types = "gpt_oss",
     .qkv_bias = true,
     .o_bias = true,
     .router_bias = true,
     .global_every = 2,
     .layer = gpt_oss_layer},
    {.types = "jamba", .layer = jamba_layer},
    {.types = "kimi_linear", .router_bias = true, .layer = kimi_linear_layer},
    {.types = "lfm2 lfm2_moe",
     .tied = true,
     .qk_norm = kPerHead,
     .widths = lfm2_widths,
     .layer = lfm2_layer},
    {.types = "mamba", .tied = true, .norms = 1, .layer = mamba_layer},
    {.types = "mimo_v2_flash", .layer = mimo_v2_layer},
    {.types = "minimax_m3 minimax_m3_vl", .qk_norm = kPerHead, .layer = minimax_m3_layer},
    {.types = "mllama mllama_text_model", .layer = mllama_layer, .finish = finish_mllama},
    {.types = "nemotron-nas", .layer = nemotron_nas_layer},
    {.types = "nemotron_h",
     .norms = 1,
     .gated = false,
     .router_bias = true,
     .layer = nemotron_h_layer,
     .mtp_layer = nemotron_h_mtp_layer},
};

// clang-format on

}  // namespace

const Family* find_family(std::string_view model_type) {
  if (model_type.empty() || model_type.find(' ') != model_type.npos) return nullptr;
  for (const auto& families : {std::span<const Family>(kGated), std::span<const Family>(kPlain),
                               std::span<const Family>(kSpecial)})
    for (const Family& family : families)
      if (has_word(family.types, model_type)) return &family;
  return nullptr;
}

}  // namespace kvplan::huggingface
