// SPDX-License-Identifier: Apache-2.0
// One row a family. Sources: the model authors' published modelling code and the exact totals of
// their safetensors files; tests/truth/parameters.yaml holds these rows against the totals,
// tests/truth/architectures.yaml against the modules that huggingface/transformers builds.
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
    {.types = "llama mistral ministral ministral3 mixtral baichuan xverse aquila Yi "
              "deepseek deepseek_v2 deepseek_v3 deepseek_v32 glm_moe_dsa kimi_k2 exaone "
              "granite granitemoe granitemoeshared phi3 phi3_v phi4mm phi4_multimodal bailing_moe "
              "glm4_moe_lite aria aria_text helium iquestcoder mistral4 youtu"},
    {.types = "afmoe",
     .norms = 4,
     .qk_norm = kPerHead,
     .output_gate = true,
     .router_bias = true,
     .global_every = 4},
    {.types = "apertus", .qk_norm = kPerHead, .gated = false, .layer = apertus_layer},
    {.types = "bailing_moe_v2 sarvam_moe hy_v3", .qk_norm = kPerHead, .router_bias = true},
    {.types = "axk1", .router_bias = true, .layer = axk1_layer},
    {.types = "bitnet", .tied = true, .layer = bitnet_layer},
    {.types = "cohere",
     .tied = true,
     .norm = kNoBias,
     .norms = 1,
     .qk_norm = kPerLayer,
     .qk_norm_on_request = true},
    {.types = "cohere2 cohere2_moe", .tied = true, .norm = kNoBias, .norms = 1, .global_every = 4},
    {.types = "dbrx", .norm = kNoBias},
    {.types = "dots1", .qk_norm = kPerHead, .router_bias = true},
    {.types = "ernie4_5 paddleocr_vl paddleocr_vl_text", .tied = true},
    {.types = "ernie4_5_moe", .tied = true, .router_bias = true},
    {.types = "exaone4 mellum lara_mini lara_mini_text", .qk_norm = kPerHead},
    {.types = "exaone_moe", .qk_norm = kPerHead, .router_bias = true},
    {.types = "gemma", .tied = true},
    {.types = "gemma2", .tied = true, .norms = 4, .global_every = 2},
    {.types = "gemma3 gemma3_text",
     .tied = true,
     .norms = 4,
     .qk_norm = kPerHead,
     .global_every = 6},
    {.types = "flint", .qk_norm = kPerHead, .sinks = true},
    {.types = "glm", .bias_reaches_o = false},
    {.types = "glm4", .norms = 4, .bias_reaches_o = false},
    {.types = "glm4v glm4v_text glm46v", .norms = 4, .qkv_bias = true, .bias_reaches_o = false},
    {.types = "granite_swa granitemoe_swa", .sinks = true},
    {.types = "hyperclovax glm_ocr glm_ocr_text", .norms = 4},
    {.types = "glm4_moe glm4v_moe glm4v_moe_text",
     .qk_norm = kPerHead,
     .qk_norm_on_request = true,
     .bias_reaches_o = false,
     .router_bias = true},
    {.types = "hunyuan_v1_dense hunyuan_v1_moe hunyuan",
     .qk_norm = kPerHead,
     .qk_norm_on_request = true},
    {.types = "internlm internlm2", .layer = internlm_layer},
    {.types = "internlm3", .bias_reaches_o = false},
    {.types = "kolibri1", .norms = 4, .qk_norm = kPerHead, .router_bias = true},
    {.types = "llama4 llama4_text", .defaults = "{num_shared_experts: 1}"},
    {.types = "llada", .widths = llada_widths, .finish = finish_diffusion},
    {.types = "llava"},
    {.types = "mimo", .bias_reaches_o = false},
    {.types = "minicpm minicpm3", .tied = true},
    {.types = "minicpmv", .layer = minicpmv_layer},
    {.types = "minimax_m2", .qk_norm = kPerLayer},
    {.types = "olmo", .norm = Family::unweighted},
    {.types = "olmo2 olmo3 olmo_hybrid flex_olmo", .qk_norm = kPerLayer},
    {.types = "olmoe", .qk_norm = kPerLayer},
    {.types = "orion", .norm = kLayerNorm},
    {.types = "phimoe", .norm = kLayerNorm},
    {.types = "qwen", .qkv_bias = true, .inner_divisor = 2},
    {.types = "qwen2 qwen2_vl qwen2_5_vl qwen2_5_vl_text qwen2_vl_text qwen2_5_omni_text",
     .qkv_bias = true,
     .defaults = "{use_sliding_window: false}"},
    {.types = "Dream",
     .qkv_bias = true,
     .defaults = "{use_sliding_window: false}",
     .finish = finish_diffusion},
    {.types = "qwen2_moe",
     .qkv_bias = true,
     .shared_gate = true,
     .defaults = "{use_sliding_window: false}"},
    {.types = "qwen3 qwen3_moe qwen3_vl qwen3_vl_text qwen3_vl_moe qwen3_vl_moe_text "
              "qwen3_omni_moe_text",
     .qk_norm = kPerHead,
     .shared_gate = true,
     .defaults = "{use_sliding_window: false}"},
    {.types = "qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text",
     .qk_norm = kPerHead,
     .output_gate = true,
     .shared_gate = true},
    {.types = "qwen3_next",
     .qk_norm = kPerHead,
     .output_gate = true,
     .shared_gate = true,
     .mtp_layers = 1},
    {.types = "sarvam_mla solar_open", .router_bias = true},
    {.types = "smollm3", .tied = true},
    {.types = "seed_oss", .qkv_bias = true, .bias_reaches_o = false},
    {.types = "vaultgemma", .tied = true, .global_every = 2},
    {.types = "stablelm",
     .norm = kLayerNorm,
     .qk_norm = kPerLayer,
     .qk_norm_on_request = true,
     .bias_reaches_o = false,
     .layer = stablelm_layer},
};

// clang-format on

}  // namespace

const Family* find_family(std::string_view model_type) {
  if (model_type.empty() || model_type.find(' ') != model_type.npos) return nullptr;
  for (const auto& families :
       {std::span<const Family>(kGated), plain_families(), special_families()})
    for (const Family& family : families)
      if (has_word(family.types, model_type)) return &family;
  return nullptr;
}

}  // namespace kvplan::huggingface
