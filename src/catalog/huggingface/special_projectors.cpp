// SPDX-License-Identifier: Apache-2.0
// What one model each puts between its tower and its text model, after the modelling code of
// huggingface/transformers 5.24.
#include <algorithm>

#include "catalog/huggingface/towers.h"

namespace kvplan::huggingface {
namespace {

std::int64_t two_products(std::int64_t in, std::int64_t out, bool biased) {
  Count c;
  c.linear(in, out, biased);
  c.linear(out, out, biased);
  return c.n;
}

// As many learned queries as the largest image asks for read the patches.
std::int64_t aria(const Joint& j) {
  const std::int64_t w = j.width();
  std::int64_t queries = 0;
  if (const auto of_patches = j.top.if_inside({"projector_patch_to_query_dict"}))
    for (const auto& [patches, value] : of_patches->node().members)
      queries = std::max(queries, of_patches->count({std::string_view(patches)}));
  j.top.pass_over({"max_value_projector_patch_to_query_dict"});
  Count c;
  c.vectors(queries > 0 ? queries : 256, w);
  for (int i = 0; i < 3; ++i) c.linear(w, w, false);
  for (int i = 0; i < 5; ++i) c.linear(w, w, true);
  c.vectors(6, w);
  c.linear(w, j.hidden, false);
  c.linear(j.hidden, j.hidden, false);
  return c.n;
}

// The tower once more, for video, and one projector for both.
std::int64_t video_llava(const Joint& j) {
  j.top.pass_over({"video_seq_length"});
  return checked_add(find_image_encoder("clip_vision_model")->count({j.tower}),
                     two_products(j.width(), j.hidden, true));
}

std::int64_t two_biased(const Joint& j) { return two_products(j.width(), j.hidden, true); }

std::int64_t ovis2(const Joint& j) {
  return product(j.tower.count_or({"vocab_size"}, 16384),
                 j.top.count_or({"hidden_size"}, j.hidden));
}

std::int64_t got_ocr2(const Joint& j) {
  const std::int64_t out = j.tower.count_or({"output_channels"}, 256);
  Count c;
  c.linear(9 * out, 2 * out, false);
  c.linear(18 * out, 4 * out, false);
  c.linear(4 * out, j.hidden, true);
  return c.n;
}

std::int64_t step3p7(const Joint& j) {
  Count c;
  c.linear(4 * j.tower.count({"width", "hidden_size"}), j.hidden, j.top.flag({"projector_bias"}));
  j.top.pass_over(
      {"understand_projector_stride", "vision_select_layer", "image_token_len", "patch_token_len"});
  return c.n;
}

// Joins patches of a frame, then frames, each through two products and a norm.
std::int64_t ernie_vl(const Joint& j) {
  const std::int64_t w = j.tower.count({"embed_dim", "hidden_size"}), joined = 4 * w,
                     frames = 2 * joined;
  j.top.pass_over({"spatial_conv_size", "temporal_conv_size", "pixel_hidden_size"});
  Count c;
  for (const std::int64_t in : {joined, frames}) {
    c.linear(in, joined, true);
    c.linear(joined, joined, true);
    c.vectors(2, joined);
  }
  c.linear(joined, j.hidden, true);
  c.add(j.hidden);
  return c.n;
}

// Pools patches by attention over two layers' outputs, then a gated feed-forward.
std::int64_t molmo2(const Joint& j) {
  const Node none = map();
  const auto said = j.top.if_inside({"adapter_config"});
  const Keys k = said ? *said : Keys(none);
  const std::int64_t w = k.count_or({"hidden_size"}, 1152),
                     taken = k.length({"vision_feature_layer", "vit_layers"}),
                     in = w * (taken > 0 ? taken : 2),
                     inner = k.count_or({"intermediate_size"}, 18944),
                     out = k.count_or({"text_hidden_size"}, said ? 3584 : j.hidden);
  k.pass_over({"num_attention_heads", "num_key_value_heads", "head_dim", "hidden_act"});
  Count c;
  for (int i = 0; i < 3; ++i) c.linear(in, w, true);
  c.linear(w, w, true);
  c.linear(w, 2 * inner, false);
  c.linear(inner, out, false);
  return c.n;
}

std::int64_t one_product(const Joint& j) {
  Count c;
  c.linear(j.tower.count({"out_hidden_size"}), j.hidden, true);
  return c.n;
}

// Four joined patches through two products, then one to the text model's width.
std::int64_t muse_glimmer(const Joint& j) {
  const std::int64_t inner = j.top.count_or({"projector_hidden_size"}, 4096);
  Count c;
  c.linear(j.top.count_or({"out_hidden_size"}, 4 * j.width()), inner, false);
  c.linear(inner, inner, false);
  c.linear(inner, j.hidden, false);
  return c.n;
}

std::int64_t lfm3_vl(const Joint& j) {
  const std::int64_t merge = j.tower.count_or({"spatial_merge_size"}, 2),
                     inner = j.top.count_or({"projector_hidden_size"}, 4096);
  const bool biased = j.top.flag({"projector_bias"}, true);
  Count c;
  c.vectors(2, j.width());
  c.linear(product(merge, merge, j.width()), inner, biased);
  c.linear(inner, j.hidden, biased);
  return c.n;
}

// Joins four rows, once more for each time that it is to.
std::int64_t minicpmv46(const Joint& j) {
  const std::int64_t joined = 4 * j.width(), times = j.top.count_or({"merger_times"}, 1);
  Count c;
  for (std::int64_t i = 0; i < times; ++i) {
    c.vectors(2, joined);
    c.linear(joined, joined, true);
    c.linear(joined, i + 1 < times ? j.width() : j.hidden, true);
  }
  j.top.pass_over({"merge_kernel_size", "insert_layer_id", "patch_size", "image_size",
                   "drop_vision_last_layer", "downsample_mode"});
  return c.n;
}

// A pixel shuffle joins four patches for a norm and two products.
std::int64_t nemotron_omni(const Joint& j) {
  const std::int64_t joined = 4 * j.width(), inner = j.top.count({"projector_hidden_size"});
  j.top.pass_over({"vision_hidden_size", "video_temporal_patch_size", "video_pruning_rate"});
  Count c;
  c.add(joined);
  c.linear(joined, inner, false);
  c.linear(inner, j.hidden, false);
  return c.n;
}

constexpr Wrapper kWrappers[] = {
    {"lfm3_vl", "lfm3_vl_vision", lfm3_vl},
    {"minicpmv4_6 minicpmv4_7 minicpm_ocr", "minicpmv4_6_vision", minicpmv46},
    {"nemotron_h_omni", "radio", nemotron_omni},
    {"hy_v4_vl", "hy_v4_vl_vision", nullptr},
    {"muse_glimmer", "muse_glimmer_vision", muse_glimmer},
    {"aria", "idefics3_vision", aria},
    {"deepseek_vl", "siglip_vision_model", two_biased},
    {"video_llava", "clip_vision_model", video_llava},
    {"video_llama_3", "video_llama_3_vision", two_biased},
    {"ovis2", "ovis2_vision", ovis2},
    {"got_ocr2 pp_chart2table", "sam_vision_model", got_ocr2},
    {"step3p7", "step3p5_vision", step3p7},
    {"glm_ocr", "glm_ocr_vision", nullptr},
    {"glm5_next", "glm5_next_vision", nullptr},
    {"ernie4_5_vl_moe ernie4_5_moe_vl", "ernie4_5_vl_moe_vision", ernie_vl},
    {"molmo2", "molmo2_vision", molmo2},
    {"exaone4_5", "exaone4_5_vision", nullptr},
    {"hyperclovax_vision_v2", "qwen2_5_vl", one_product},
};

}  // namespace

std::span<const Wrapper> special_wrappers() { return kWrappers; }

}  // namespace kvplan::huggingface
