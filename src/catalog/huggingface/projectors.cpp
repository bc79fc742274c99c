// SPDX-License-Identifier: Apache-2.0
#include "catalog/huggingface/towers.h"
#include "word_list.h"

namespace kvplan::huggingface {
namespace {

// Two products with an activation between them.
std::int64_t two_products(std::int64_t in, std::int64_t out, bool biased = true) {
  Count c;
  c.linear(in, out, biased);
  c.linear(out, out, biased);
  return c.n;
}

// Layers whose outputs go side by side: one, or a list of them.
std::int64_t layers_taken(const Joint& j) {
  const Node* said = j.top.find({"vision_feature_layer", "vision_feature_layers"});
  const bool listed = said && said->kind == Node::list && !said->items.empty();
  return listed ? static_cast<std::int64_t>(said->items.size()) : 1;
}

std::int64_t llava(const Joint& j) {
  return two_products(product(layers_taken(j), j.width()), j.hidden,
                      j.top.flag({"multimodal_projector_bias"}, true));
}
// A learned row ends each line of patches.
std::int64_t llava_next(const Joint& j) { return checked_add(llava(j), j.hidden); }

std::int64_t vip_llava(const Joint& j) {
  const Node* said = j.top.find({"vision_feature_layers"});
  const auto taken = said ? static_cast<std::int64_t>(said->items.size()) : 5;
  Count c;
  c.vectors(2 * taken, j.width());
  c.add(two_products(product(taken, j.width()), j.hidden));
  return c.n;
}

std::int64_t paligemma(const Joint& j) {
  Count c;
  c.linear(j.width(), j.tower.count_or({"projection_dim"}, 2048), true);
  return c.n;
}

std::int64_t gemma3(const Joint& j) { return product(1 + j.hidden, j.width()); }

std::int64_t gemma4(const Joint& j) { return product(j.hidden, j.width()); }

// Mistral 3: a norm, a merger of patches, two products.
std::int64_t mistral3(const Joint& j) {
  const std::int64_t merge = j.top.count_or({"spatial_merge_size"}, 2);
  Count c;
  c.add(j.width());
  c.linear(product(merge, merge, j.width()), j.width(), false);
  c.add(two_products(product(layers_taken(j), j.width()), j.hidden,
                     j.top.flag({"multimodal_projector_bias"})));
  return c.n;
}

// Idefics 2: a gated projection, then a resampler that a few latents read the image with.
std::int64_t idefics2(const Joint& j) {
  const auto said = j.top.if_inside({"perceiver_config"});
  const Node none = map();
  const Keys k = said ? *said : Keys(none);
  const Keys text = j.top.inside({"text_config"});
  const std::int64_t heads = k.count_or({"resampler_n_heads"}, 16),
                     kv_heads = k.count_or({"num_key_value_heads"}, 4),
                     head = k.count_or({"resampler_head_dim"}, 96),
                     inner = text.count_or({"intermediate_size"}, 14336), h = j.hidden;
  Count layer;
  layer.linear(h, product(2 * heads, head), false);
  layer.linear(h, product(2 * kv_heads, head), false);
  layer.linear(h, 3 * 4 * h, false);
  layer.vectors(3, h);
  Count c;
  c.linear(j.width(), 2 * inner, false);
  c.linear(inner, h, false);
  c.vectors(k.count_or({"resampler_n_latents"}, 64) + 1, h);
  c.add(product(layer.n, k.count_or({"resampler_depth"}, 3)));
  return c.n;
}

// Idefics 3, SmolVLM: a pixel shuffle and one product.
std::int64_t idefics3(const Joint& j) {
  const std::int64_t scale = j.top.count_or({"scale_factor"}, 2);
  return product(product(scale, scale, j.width()), j.hidden);
}

// InternVL: a pixel shuffle joins four patches for a norm and two products.
std::int64_t internvl(const Joint& j) {
  Count c;
  c.vectors(2, 4 * j.width());
  c.add(two_products(4 * j.width(), j.hidden));
  return c.n;
}

// A gated product of patches that a pixel shuffle joined.
std::int64_t cohere2_vision(const Joint& j) {
  const std::int64_t factor = j.top.count_or({"downsample_factor"}, 2),
                     inner = j.top.count_or({"alignment_intermediate_size"}, j.hidden);
  Count c;
  c.linear(product(factor, factor, j.width()), inner, true);
  c.linear(inner / 2, j.hidden, true);
  return c.n;
}
std::int64_t aya_vision(const Joint& j) {
  const std::int64_t factor = j.top.count_or({"downsample_factor"}, 2);
  return checked_add(cohere2_vision(j), product(2 * factor, factor, j.width()));
}

std::int64_t lfm2_vl(const Joint& j) {
  const std::int64_t factor = j.top.count_or({"downsample_factor"}, 2),
                     joined = product(factor, factor, j.width()),
                     inner = j.top.count_or({"projector_hidden_size"}, 2560);
  const bool biased = j.top.flag({"projector_bias"}, true);
  Count c;
  if (j.top.flag({"projector_use_layernorm"}, true)) c.vectors(2, joined);
  c.linear(joined, inner, biased);
  c.linear(inner, j.hidden, biased);
  return c.n;
}

// MiniCPM-V: learned queries attend to the patches once; three norms, one more product.
std::int64_t minicpmv(const Joint& j) {
  const std::int64_t h = j.hidden;
  Count c;
  c.vectors(j.top.count_or({"query_num"}, 64), h);
  c.linear(j.width(), h, false);
  for (int i = 0; i < 4; ++i) c.linear(h, h, true);
  c.vectors(3 * 2, h);
  c.linear(h, h, false);
  return c.n;
}

// Kimi: a norm over a patch, then joined patches through two products.
std::int64_t kimi(const Joint& j) {
  const std::int64_t width = j.tower.count({"vt_hidden_size", "hidden_size"}), joined = 4 * width;
  Count c;
  c.vectors(2, width);
  c.linear(joined, joined, true);
  c.linear(joined, j.hidden, true);
  return c.n;
}

std::int64_t llama4(const Joint& j) {
  return product(j.tower.count({"vision_output_dim", "projector_output_dim"}), j.hidden);
}

std::int64_t mllama(const Joint& j) {
  Count c;
  c.linear(j.tower.count({"vision_output_dim"}), j.hidden, true);
  return c.n;
}

// MiniMax-M3: each patch through two products, four joined ones through two more.
std::int64_t minimax_m3(const Joint& j) {
  const std::int64_t inner = j.top.count_or({"projector_hidden_size"}, j.hidden);
  j.top.pass_over({"img_token_compression_config"});
  Count c;
  c.linear(j.width(), inner, true);
  c.linear(inner, j.hidden, true);
  c.linear(4 * j.hidden, inner, true);
  c.linear(inner, j.hidden, true);
  return c.n;
}

// Google's cards count Gemma 4's towers apart ("25.2B, vision encoder ~550M"), Moonshot's
// Kimi-K2.5's
// ("1T, vision encoder 400M"); MiniMax-M3's total is not published with its tower.
constexpr Wrapper kWrappers[] = {
    {"llava", "", llava},
    {"llava_next llava_next_video llava_onevision", "", llava_next},
    {"vipllava", "", vip_llava},
    {"paligemma", "headless_siglip", paligemma},
    {"gemma3 shieldgemma2", "headless_siglip", gemma3},
    {"gemma4", "gemma4_vision", gemma4, true},
    {"mistral3 lighton_ocr mistral_large4", "pixtral", mistral3},
    {"idefics2", "idefics2", idefics2},
    {"idefics3 smolvlm", "idefics3", idefics3},
    {"internvl_chat", "intern_vit_6b", internvl},
    {"internvl", "internvl_vision", internvl},
    {"qianfan_ocr", "qianfan_ocr_vision", internvl},
    {"aya_vision", "headless_siglip", aya_vision},
    {"cohere2_vision", "siglip_vision_model", cohere2_vision},
    {"lfm2_vl lfm2-vl", "siglip2_vision_model", lfm2_vl},
    {"kimi_k25", "kimi_k25", kimi, true},
    {"kimi_vl", "moonvit", kimi},
    {"paddleocr_vl", "paddleocr_vl_vision", kimi},
    {"llama4", "llama4_vision_model", llama4},
    {"mllama", "mllama_vision_model", mllama},
    {"minicpmv", "headless_siglip", minicpmv},
    {"minimax_m3_vl", "minimax_m3_vl_vision", minimax_m3, true},
    {"qwen2_vl", "qwen2_vl", nullptr},
    {"qwen2_5_vl qwen2_5_omni qwen2_5_omni_thinker", "qwen2_5_vl", nullptr},
    {"qwen3_vl qwen3_vl_moe qwen3_omni_moe qwen3_omni_moe_thinker", "qwen3_vl", nullptr},
    {"qwen3_5 qwen3_5_moe", "qwen3_5", nullptr},
    {"glm4v glm4v_moe glm46v glmga", "glm4v_vision", nullptr},
};

}  // namespace

const Wrapper* find_wrapper(std::string_view model_type) {
  if (model_type.empty()) return nullptr;
  for (const auto& wrappers : {std::span<const Wrapper>(kWrappers), special_wrappers()})
    for (const Wrapper& wrapper : wrappers)
      if (has_word(wrapper.types, model_type)) return &wrapper;
  return nullptr;
}

}  // namespace kvplan::huggingface
