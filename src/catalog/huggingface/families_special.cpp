// SPDX-License-Identifier: Apache-2.0
// Families, a row each, whose layers have functions of their own. Sources: as of families.cpp.
#include "catalog/huggingface/special.h"

namespace kvplan::huggingface {
namespace {

constexpr auto kPerHead = Family::per_head;

// clang-format off: a row a line or two

// Layers of their own kind.
constexpr Family kSpecial[] = {
    {.types = "bamba granitemoehybrid", .layer = mamba2_hybrid_layer},
    {.types = "chatglm", .bias_reaches_o = false, .finish = finish_chatglm},
    {.types = "deepseek_v4 deepseek_ref", .layer = deepseek_v4_layer, .finish = finish_deepseek_v4},
    {.types = "ernie4_5_vl_moe ernie4_5_vl_moe_text ernie4_5_moe_vl",
     .tied = true,
     .router_bias = true,
     .experts_by_modality = true,
     .layer = ernie_vl_layer},
    {.types = "falcon_h1", .layer = falcon_h1_layer},
    {.types = "falcon_mamba", .tied = true, .norms = 1, .layer = mamba_layer},
    {.types = "gemma3n gemma3n_text",
     .tied = true,
     .norms = 4,
     .qk_norm = kPerHead,
     .global_every = 5,
     .layer = gemma3n_layer,
     .finish = finish_gemma3n},
    {.types = "gemma4 gemma4_text gemma4_unified gemma4_unified_text",
     .tied = true,
     .norms = 4,
     .qk_norm = kPerHead,
     .global_every = 6,
     .defaults = "{head_dim: 256}",
     .layer = gemma4_layer,
     .finish = finish_gemma4},
    {.types = "gpt_oss",
     .qkv_bias = true,
     .o_bias = true,
     .sinks = true,
     .router_bias = true,
     .global_every = 2,
     .defaults = "{head_dim: 64}",
     .layer = gpt_oss_layer},
    {.types = "jamba", .layer = jamba_layer},
    {.types = "kimi_linear", .router_bias = true, .layer = kimi_linear_layer},
    {.types = "lfm3",
     .tied = true,
     .norms = 4,
     .qk_norm = kPerHead,
     .head_gate = true,
     .layer = lfm2_layer},
    {.types = "lfm2 lfm2_moe",
     .tied = true,
     .qk_norm = kPerHead,
     .widths = lfm2_widths,
     .layer = lfm2_layer},
    {.types = "laguna", .qk_norm = kPerHead, .router_bias = true, .layer = laguna_layer},
    {.types = "longcat_flash longcat_flash_ngram",
     .router_bias = true,
     .widths = longcat_widths,
     .layer = longcat_layer,
     .mtp_layer = longcat_mtp_layer,
     .finish = finish_longcat},
    {.types = "minimax minimax_text_01 minimax_m1 MiniMaxText01 MiniMaxM1", .layer = minimax_layer},
    {.types = "bailing_moe_linear bailing_moe_linear_v2",
     .qk_norm = kPerHead,
     .router_bias = true,
     .layer = bailing_linear_layer},
    {.types = "recurrent_gemma",
     .tied = true,
     .mlp_bias = true,
     .inner_divisor = 2,
     .layer = recurrent_gemma_layer},
    {.types = "step3_text step3_vl", .layer = step3_layer},
    {.types = "step3p5 step3p7",
     .router_bias = true,
     .defaults = "{first_k_dense_replace: 3}",
     .layer = step3p5_layer,
     .mtp_layer = step3p5_mtp_layer},
    {.types = "zamba", .tied = true, .layer = zamba_layer},
    {.types = "zamba2", .tied = true, .layer = zamba2_layer},
    {.types = "mamba", .tied = true, .norms = 1, .layer = mamba_layer},
    {.types = "mamba2", .norms = 1, .layer = mamba2_layer},
    {.types = "mimo_v2_flash mimo_v2", .router_bias = true, .layer = mimo_v2_layer},
    {.types = "minimax_m3 minimax_m3_vl", .qk_norm = kPerHead, .layer = minimax_m3_layer},
    {.types = "mllama mllama_text_model", .layer = mllama_layer, .finish = finish_mllama},
    {.types = "molmo", .inner_divisor = 2, .finish = finish_molmo},
    {.types = "molmo2 molmo2_text", .qk_norm = kPerHead, .finish = finish_molmo2},
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

std::span<const Family> special_families() { return kSpecial; }

}  // namespace kvplan::huggingface
