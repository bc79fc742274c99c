// SPDX-License-Identifier: Apache-2.0
// One row a family. Sources: the model authors' published modelling code and the exact totals of
// their safetensors files; tests/truth/parameters.yaml holds these rows against the totals,
// tests/truth/architectures.yaml against the modules that huggingface/transformers builds.
#include <algorithm>
#include <array>
#include <cctype>
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
    {.types = "llama mistral ministral ministral3 mixtral baichuan xverse aquila Yi "
              "deepseek deepseek_v2 deepseek_v3 deepseek_v32 glm_moe_dsa kimi_k2 exaone "
              "granite granitemoe granitemoeshared phi3 phi3_v phi4mm phi4_multimodal "
              "glm4_moe_lite aria aria_text helium iquestcoder mistral4"},
    {.types = "afmoe",
     .norms = 4,
     .qk_norm = kPerHead,
     .output_gate = true,
     .router_bias = true,
     .global_every = 4},
    {.types = "apertus", .qk_norm = kPerHead, .gated = false, .layer = apertus_layer},
    {.types = "bailing_moe", .qk_norm = kPerHead, .qk_norm_on_request = true},
    {.types = "bailing_moe_v2 sarvam_moe hy_v3", .qk_norm = kPerHead, .router_bias = true},
    {.types = "arctic", .layer = arctic_layer},
    {.types = "axk1", .router_bias = true, .layer = axk1_layer},
    {.types = "beam",
     .norms = 4,
     .qk_norm = kPerHead,
     .output_gate = true,
     .router_bias = true,
     .global_every = 6,
     .layer = beam_layer},
    {.types = "muse_glimmer muse_glimmer_text", .norms = 4, .output_gate = true},
    {.types = "bitnet", .layer = bitnet_layer},
    {.types = "cohere",
     .tied = true,
     .norm = kNoBias,
     .norms = 1,
     .qk_norm = kPerLayer,
     .qk_norm_on_request = true},
    {.types = "cohere2 cohere2_moe", .tied = true, .norm = kNoBias, .norms = 1, .global_every = 4},
    {.types = "dbrx", .norm = kNoBias},
    {.types = "dots1", .qk_norm = kPerHead, .router_bias = true},
    {.types = "ernie4_5 paddleocr_vl paddleocr_vl_text",
     .tied = true,
     .defaults = "{head_dim: 128}"},
    {.types = "ernie4_5_moe", .tied = true, .router_bias = true},
    {.types = "exaone4 mellum", .qk_norm = kPerHead},
    {.types = "lara_mini lara_mini_text", .tied = true, .qk_norm = kPerHead},
    {.types = "exaone_moe", .qk_norm = kPerHead, .router_bias = true},
    {.types = "gemma", .tied = true, .defaults = "{head_dim: 256}"},
    {.types = "gemma2", .tied = true, .norms = 4, .global_every = 2, .defaults = "{head_dim: 256}"},
    {.types = "gemma3 gemma3_text",
     .tied = true,
     .norms = 4,
     .qk_norm = kPerHead,
     .global_every = 6,
     .defaults = "{head_dim: 256}"},
    {.types = "flint", .qk_norm = kPerHead, .sinks = true},
    {.types = "glm", .bias_reaches_o = false, .defaults = "{attention_bias: true}"},
    {.types = "glm4", .norms = 4, .bias_reaches_o = false, .defaults = "{attention_bias: true}"},
    {.types = "glm4v glm4v_text glm46v", .norms = 4, .qkv_bias = true, .bias_reaches_o = false},
    {.types = "granite_swa", .tied = true, .sinks = true},
    {.types = "granitemoe_swa", .sinks = true},
    {.types = "hyperclovax glm_ocr glm_ocr_text", .norms = 4},
    {.types = "glm4_moe glm4v_moe glm4v_moe_text",
     .qk_norm = kPerHead,
     .qk_norm_on_request = true,
     .bias_reaches_o = false,
     .router_bias = true},
    {.types = "hunyuan_v1_dense hunyuan_v1_moe hunyuan",
     .qk_norm = kPerHead,
     .qk_norm_on_request = true},
    {.types = "grok-1 grok1 grok_1", .norms = 4, .layer = grok_layer},
    {.types = "internlm internlm2", .layer = internlm_layer},
    {.types = "internlm3", .bias_reaches_o = false},
    {.types = "kolibri1", .norms = 4, .qk_norm = kPerHead, .router_bias = true},
    {.types = "llama4 llama4_text", .defaults = "{num_shared_experts: 1}"},
    {.types = "llada", .widths = llada_widths, .finish = finish_diffusion},
    {.types = "llava"},
    {.types = "mimo", .bias_reaches_o = false},
    {.types = "minicpm minicpm3", .tied = true},
    {.types = "minicpmv", .layer = minicpmv_layer},
    {.types = "minimax_m2", .qk_norm = kPerLayer, .defaults = "{head_dim: 128}"},
    {.types = "olmo", .norm = Family::unweighted},
    {.types = "olmo2 olmo_hybrid flex_olmo", .qk_norm = kPerLayer},
    {.types = "olmo3", .qk_norm = kPerLayer, .global_every = 4},
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
     .shared_gate = true,
     .defaults = "{use_sliding_window: false, qkv_bias: true}"},
    {.types = "qwen3 qwen3_vl qwen3_vl_text",
     .qk_norm = kPerHead,
     .defaults = "{use_sliding_window: false, head_dim: 128}"},
    {.types = "qwen3_moe qwen3_vl_moe qwen3_vl_moe_text "
              "qwen3_omni_moe_text",
     .qk_norm = kPerHead,
     .shared_gate = true,
     .defaults = "{use_sliding_window: false}"},
    {.types = "qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text",
     .qk_norm = kPerHead,
     .output_gate = true,
     .shared_gate = true,
     .defaults = "{head_dim: 256, full_attention_interval: 4}"},
    {.types = "qwen3_next",
     .qk_norm = kPerHead,
     .output_gate = true,
     .shared_gate = true,
     .mtp_layers = 1,
     .defaults = "{head_dim: 256, full_attention_interval: 4}"},
    {.types = "sarvam_mla solar_open", .router_bias = true},
    {.types = "youtu", .tied = true},
    {.types = "smollm3", .tied = true},
    {.types = "seed_oss",
     .bias_reaches_o = false,
     .defaults = "{head_dim: 128, attention_bias: true}"},
    {.types = "vaultgemma", .tied = true, .global_every = 2, .defaults = "{head_dim: 256}"},
    {.types = "stablelm",
     .norm = kLayerNorm,
     .qk_norm = kPerLayer,
     .qk_norm_on_request = true,
     .bias_reaches_o = false,
     .layer = stablelm_layer},
};

// clang-format on

using Families = std::span<const Family>;
std::array<Families, 3> all_families() { return {kGated, plain_families(), special_families()}; }

// Letters and digits of a name up to "For".
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name.substr(0, name.find("For")))
    if (c != '_' && c != '-')
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return letters;
}

}  // namespace

std::string_view type_of_class(std::string_view architecture) {
  const std::string wanted = plain(architecture);
  if (wanted.empty()) return {};
  for (const Families families : all_families())
    for (const Family& family : families)
      for (std::string_view rest = family.types; !rest.empty();) {
        const std::string_view type = rest.substr(0, rest.find(' '));
        if (plain(type) == wanted) return type;
        rest.remove_prefix(std::min(rest.size(), type.size() + 1));
      }
  return {};
}

const Family* find_family(std::string_view model_type) {
  if (model_type.empty() || model_type.find(' ') != model_type.npos) return nullptr;
  for (const Families families : all_families())
    for (const Family& family : families)
      if (has_word(family.types, model_type)) return &family;
  return nullptr;
}

}  // namespace kvplan::huggingface
