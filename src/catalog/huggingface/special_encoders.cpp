// SPDX-License-Identifier: Apache-2.0
// Image encoders that one model each has, after the modelling code of huggingface/transformers
// 5.24.
#include "catalog/huggingface/towers.h"

namespace kvplan::huggingface {
namespace {

// SigLIP without positions: they are rotary.
std::int64_t video_llama3(const Tower& t) {
  Count c;
  c.linear(t.patch(), t.width(), true);
  c.vectors(2, t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner()}));
  return c.n;
}

// AIMv2, then a head that chooses among visual words; what they mean is a table of the model's.
std::int64_t ovis2(const Tower& t) {
  const std::int64_t stride = t.v.count_or({"hidden_stride"}, 1),
                     words = t.v.count_or({"vocab_size"}, 16384) -
                             t.v.count_or({"num_visual_indicator_tokens"}, 5);
  if (words < 1) t.v.refuse({"vocab_size"}, "no visual words are left");
  Count c;
  c.linear(t.patch(), t.width(), true);
  c.vectors(t.positions() + 2, t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner(), t.v.flag({"qkv_bias"}),
                      t.v.flag({"mlp_bias"}), true, false}));
  c.linear(product(stride, stride, t.width()), words, false);
  c.vectors(2, words);
  return c.n;
}

// Segment Anything's encoder: tables of relative positions, within windows but in a few layers; a
// neck of two convolutions (GOT-OCR 2).
std::int64_t sam(const Tower& t) {
  const std::int64_t width = t.width(), depth = t.depth(),
                     heads = t.v.count_or({"num_attention_heads"}, 12),
                     out = t.v.count_or({"output_channels"}, 256),
                     window = t.v.count_or({"window_size"}, 14);
  const std::int64_t global = t.v.length({"global_attn_indexes"});
  std::int64_t side = 0;
  while (product(side, side) < t.positions()) ++side;
  if (width % heads != 0) t.v.refuse({"num_attention_heads"}, "does not divide the width");
  Count c;
  c.vectors(t.positions(), width);
  c.linear(t.patch(), width, true);
  c.add(count_blocks({depth, width, t.v.count_or({"mlp_dim"}, 4 * width)}));
  c.vectors(2 * (global * (2 * side - 1) + (depth - global) * (2 * window - 1)), width / heads);
  c.linear(width, out, false);
  c.linear(9 * out, out, false);
  c.vectors(4, out);
  return c.n;
}

// Step 3.7: layer scales; two convolutions halve the grid and double the width.
std::int64_t step3p7(const Tower& t) {
  const std::int64_t width = t.v.count({"width", "hidden_size"}),
                     depth = t.v.count({"layers", "num_hidden_layers"});
  const double ratio = t.v.number({"mlp_ratio"}).value_or(8960.0 / 1536);
  if (!(ratio > 0 && ratio < 64)) t.v.refuse({"mlp_ratio"}, "out of range");
  const auto inner = static_cast<std::int64_t>(static_cast<double>(width) * ratio);
  Count c;
  c.linear(t.patch(), width, false);
  c.vectors(t.positions() + 2, width);
  c.add(count_blocks({depth, width, inner}));
  c.vectors(2 * depth, width);
  c.linear(9 * width, 2 * width, true);
  c.linear(18 * width, 4 * width, true);
  return c.n;
}

// GLM-OCR: GLM-4.1V's with biases and norms of queries and keys, and no learned positions.
std::int64_t glm_ocr(const Tower& t) {
  const std::int64_t width = t.width(), out = t.v.count({"out_hidden_size"}), merge = t.merge(),
                     heads = t.v.count_or({"num_heads", "num_attention_heads"}, 16);
  if (width % heads != 0) t.v.refuse({"num_heads"}, "does not divide the width");
  const std::int64_t inner =
      t.v.count_or({"projection_intermediate_size"}, out * t.v.count_or({"in_channels"}, 3));
  Count c;
  c.linear(t.patch(), width, true);
  c.add(count_blocks({t.depth(), width, t.inner(), true, true, true, false}));
  if (!t.v.flag({"attention_bias"}, true)) c.n -= product(5 * width + 2 * t.inner(), t.depth());
  c.vectors(2 * t.depth(), width / heads);
  c.vectors(1, width);
  c.linear(product(width, merge, merge), out, true);
  c.linear(out, out, false);
  c.vectors(2, out);
  c.linear(out, 3 * inner, false);
  return c.n;
}

// ERNIE 4.5 VL: patches without a bias, a norm; rotary positions.
std::int64_t ernie_vl(const Tower& t) {
  const std::int64_t width = t.v.count({"embed_dim", "hidden_size"}),
                     inner = t.v.integer({"intermediate_size"}, 1)
                                 .value_or(width * t.v.count_or({"mlp_ratio"}, 4));
  Count c;
  c.linear(t.patch(), width, false);
  c.add(count_blocks({t.depth(), width, inner}));
  c.vectors(2, width);
  return c.n;
}

// Molmo 2: SigLIP's first layers; the last ones that the adapter reads are the last that are kept.
std::int64_t molmo2(const Tower& t) {
  const std::int64_t width = t.width();
  Count c;
  c.linear(t.patch(), width, true);
  c.vectors(t.v.count_or({"num_position_embeddings", "image_num_pos"}, 729), width);
  c.add(count_blocks({t.depth(), width, t.inner()}));
  return c.n;
}

// Hunyuan 4: one position more than the largest image has patches; a convolution joins patches, a
// product follows; a learned row ends a line.
std::int64_t hy_v4_vl(const Tower& t) {
  const std::int64_t width = t.width(), out = t.v.count({"out_hidden_size"}),
                     side = t.v.count({"max_image_size"}) / t.v.count({"patch_size"}),
                     joined = product(t.merge(), t.merge(), width);
  Count c;
  c.linear(t.patch(), width, true);
  c.vectors(product(side, side) + 1, width);
  c.add(count_blocks({t.depth(), width, t.inner()}));
  c.linear(joined, joined, true);
  c.linear(joined, out, true);
  c.vectors(1, out);
  c.vectors(1, width);
  return c.n;
}

// Muse Glimmer: patches of two frames, a table of positions, norms before and after the blocks.
std::int64_t muse_glimmer(const Tower& t) {
  const std::int64_t frames = t.v.count_or({"patch_temporal"}, 2);
  Count c;
  c.linear(product(frames, t.patch()), t.width(), false);
  c.add(product(t.v.count({"pos_emb_height"}), t.v.count({"pos_emb_width"}), t.width()));
  c.vectors(4, t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner()}));
  return c.n;
}

// LFM3-VL: LFM's layers over two frames' patches; spatial convolutions between attention.
std::int64_t lfm3_vl(const Tower& t) {
  const std::int64_t width = t.width(), taps = t.v.count_or({"conv_kernel_size"}, 3),
                     heads = t.v.count({"num_attention_heads"}),
                     kv_heads = t.v.count_or({"num_key_value_heads"}, heads);
  if (width % heads != 0) t.v.refuse({"num_attention_heads"}, "does not divide the width");
  Count c;
  c.linear(t.patch(), width, false);
  c.add(width);
  for (std::int64_t i = 0; i < t.depth(); ++i) {
    const std::string type = t.v.entry_text({"layer_types"}, i).value_or("");
    if (type != "conv" && type != "full_attention")
      t.v.refuse({"layer_types"}, "kv-plan does not know '" + type + "'");
    if (type == "conv") {
      c.linear(width, 4 * width, false);
      c.add(product(taps, taps, width));
    } else {
      c.linear(width, 2 * width, false);
      c.linear(width, 2 * kv_heads * (width / heads), false);
      c.vectors(2, width / heads);
    }
    c.linear(width, 3 * t.inner(), false);
    c.vectors(2, width);
  }
  return c.n;
}

// MiniCPM-V 4.6: SigLIP without its head; after some layers windows of four patches attend to
// themselves and are joined.
std::int64_t minicpmv46(const Tower& t) {
  const std::int64_t width = t.width(), joined = 4 * width;
  Count c;
  c.linear(t.patch(), width, true);
  c.vectors(t.positions() + 2, width);
  c.add(count_blocks({t.depth(), width, t.inner()}));
  for (int i = 0; i < 4; ++i) c.linear(width, width, true);
  c.vectors(2, width);
  c.vectors(2, joined);
  c.linear(joined, 4 * t.inner(), true);
  c.linear(4 * t.inner(), width, true);
  return c.n;
}

// RADIO (Nemotron 3 Omni): learned positions of the largest image, class and register tokens,
// layer scales; frames of video have a product of their own.
std::int64_t radio(const Tower& t) {
  const std::int64_t width = t.width(), patch = t.v.count({"patch_size"}),
                     side = t.v.count({"max_img_size"}) / patch,
                     numbers = product(t.v.count_or({"num_channels"}, 3), patch, patch);
  const double ratio = t.v.number({"mlp_ratio"}).value_or(4);
  if (!(ratio > 0 && ratio < 64)) t.v.refuse({"mlp_ratio"}, "out of range");
  if (t.v.flag({"use_swiglu_ffn"})) t.v.refuse({"use_swiglu_ffn"}, "kv-plan knows it off only");
  const bool biased = t.v.flag({"qkv_bias"}, true);
  Count c;
  c.vectors(product(side, side), width);
  c.vectors(t.v.count_or({"num_cls_tokens"}, 3) + t.v.integer({"num_registers"}).value_or(7),
            width);
  c.linear(numbers, width, false);
  c.linear(product(numbers, t.v.count_or({"video_temporal_patch_size"}, 2)), width, false);
  c.add(count_blocks(
      {t.depth(), width, static_cast<std::int64_t>(static_cast<double>(width) * ratio)}));
  c.vectors((2 - (biased ? 0 : 3)) * t.depth(), width);
  return c.n;
}

constexpr ImageEncoder kEncoders[] = {
    {"lfm3_vl_vision", lfm3_vl},
    {"minicpmv4_6_vision minicpmv4_7_vision minicpm_ocr_vision", minicpmv46},
    {"radio", radio},
    {"hy_v4_vl_vision", hy_v4_vl},
    {"muse_glimmer_vision", muse_glimmer},
    {"video_llama_3_vision", video_llama3},
    {"ovis2_vision", ovis2},
    {"sam_vision_model", sam},
    {"step3p5_vision", step3p7},
    {"glm_ocr_vision glm5_next_vision", glm_ocr},
    {"ernie4_5_vl_moe_vision", ernie_vl},
    {"molmo2_vision", molmo2},
};

}  // namespace

std::span<const ImageEncoder> special_encoders() { return kEncoders; }

}  // namespace kvplan::huggingface
