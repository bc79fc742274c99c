// SPDX-License-Identifier: Apache-2.0
// Vision transformers that leave it to a projector to reach the text model.
#include "catalog/huggingface/towers.h"
#include "word_list.h"

namespace kvplan::huggingface {
namespace {

// A side in pixels: one number, or a list of two equal ones.
std::int64_t side(const Keys& v, std::string_view name) {
  const Node* said = v.find({name});
  if (!said || said->kind != Node::list) return v.count({name});
  const std::int64_t length = v.entry_integer({name}, 0).value_or(0);
  if (length == 0) v.refuse({name}, "expected a side in pixels");
  return length;
}

// CLIP: a class token, norms before and after the blocks.
std::int64_t clip(const Tower& t) {
  Count c;
  c.linear(t.patch(), t.width(), false);
  c.vectors(1 + t.positions() + 1 + 4, t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner()}));
  return c.n;
}

// A norm after the blocks, no class token.
std::int64_t siglip_body(const Tower& t, std::int64_t positions) {
  Count c;
  c.linear(t.patch(), t.width(), true);
  c.vectors(positions + 2, t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner()}));
  return c.n;
}

// Pools by a learned query: attention, a norm, a feed-forward.
std::int64_t pooling_head(const Tower& t) {
  Count c;
  for (int i = 0; i < 4; ++i) c.linear(t.width(), t.width(), true);
  c.vectors(1 + 2, t.width());
  c.linear(t.width(), t.inner(), true);
  c.linear(t.inner(), t.width(), true);
  return c.n;
}

std::int64_t with_head(const Tower& t, std::int64_t body) {
  return checked_add(body, t.v.flag({"vision_use_head"}, true) ? pooling_head(t) : 0);
}
std::int64_t siglip(const Tower& t) { return with_head(t, siglip_body(t, t.positions())); }
std::int64_t siglip2(const Tower& t) {
  return with_head(t, siglip_body(t, t.v.count({"num_patches"})));
}
// Gemma 3 and its kin leave the head out.
std::int64_t headless_siglip(const Tower& t) {
  const std::int64_t body = siglip_body(t, t.positions());
  return t.v.flag({"vision_use_head"}) ? with_head(t, body) : body;
}

// InternViT: a class token and layer scales; the 6B size norms queries and keys over all heads.
std::int64_t intern_vit(const Tower& t) {
  const bool biased = t.v.flag({"attention_bias", "qkv_bias"}, true),
             rms = t.v.text({"norm_type"}) == "rms_norm",
             normed = t.v.flag({"use_qk_norm", "qk_normalization"});
  Count c;
  c.linear(t.patch(), t.width(), true);
  c.vectors(1 + t.positions() + 1, t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner(), true, true, false, !rms}));
  c.vectors((2 + (normed ? 2 : 0) - (biased ? 0 : 3)) * t.depth(), t.width());
  return c.n;
}

std::int64_t pixtral(const Tower& t) {
  Count c;
  c.linear(t.patch(), t.width(), false);
  c.add(t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner(), false, false, true, false}));
  return c.n;
}

// MoonViT (Kimi-VL, Kimi-K2.5): a grid of learned positions.
std::int64_t moonvit(const Tower& t) {
  const std::int64_t width = t.v.count({"vt_hidden_size", "hidden_size"}),
                     inner = t.v.count({"vt_intermediate_size", "intermediate_size"}),
                     depth = t.v.count({"vt_num_hidden_layers", "num_hidden_layers"});
  Count c;
  c.linear(t.patch(), width, true);
  c.add(product(t.v.count({"init_pos_emb_height", "pos_emb_height"}),
                t.v.count({"init_pos_emb_width", "pos_emb_width"}), width));
  c.add(count_blocks({depth, width, inner}));
  c.vectors(2, width);
  return c.n;
}

// Positions are a table for rows and one for columns; norms of queries and keys; the file keeps a
// bias and a scale for its outputs where they are standardised.
std::int64_t gemma4(const Tower& t) {
  const std::int64_t head = t.v.count({"head_dim"}), width = t.width(),
                     heads = t.v.count({"num_attention_heads"}),
                     kv_heads = t.v.count({"num_key_value_heads"});
  Count layer;
  layer.linear(width, product(2 * heads, head), false);  // queries, output
  layer.linear(width, product(2 * kv_heads, head), false);
  layer.linear(width, 3 * t.inner(), false);
  layer.vectors(4, width);
  layer.vectors(2, head);
  // Seven clipped products keep a lower and an upper bound of what goes in and of what comes out.
  if (t.v.flag({"use_clipped_linears"})) layer.add(7 * 4);
  Count c;
  c.linear(t.patch(), width, false);
  c.vectors(2 * t.v.count({"position_embedding_size"}), width);
  c.add(product(layer.n, t.depth()));
  if (t.v.flag({"standardize"})) c.vectors(2, width);
  return c.n;
}

constexpr ImageEncoder kEncoders[] = {
    {"clip_vision_model", clip},
    {"siglip_vision_model", siglip},
    {"siglip2_vision_model", siglip2},
    {"headless_siglip paddleocr_vl_vision idefics2 idefics2_vision idefics3 idefics3_vision "
     "smolvlm_vision",
     headless_siglip},
    {"internvl_vision qianfan_ocr_vision intern_vit_6b", intern_vit},
    {"pixtral", pixtral},
    {"moonvit kimi_k25", moonvit},
    {"gemma4_vision", gemma4},
};

}  // namespace

std::int64_t count_blocks(const Blocks& b) {
  Count c;
  for (int i = 0; i < 4; ++i) c.linear(b.width, b.width, b.attention_bias);
  c.linear(b.width, b.inner, b.mlp_bias);
  if (b.gated) c.linear(b.width, b.inner, b.mlp_bias);
  c.linear(b.inner, b.width, b.mlp_bias);
  c.vectors(b.norm_bias ? 4 : 2, b.width);
  return product(c.n, b.depth);
}

std::int64_t Tower::patch() const {
  const std::int64_t length = side(v, "patch_size");
  const std::int64_t channels = v.count_or({"in_channels", "in_chans", "num_channels"}, 3);
  return product(product(channels, length, length), v.count_or({"temporal_patch_size"}, 1));
}

std::int64_t Tower::positions() const {
  const std::int64_t length = side(v, "image_size") / side(v, "patch_size");
  return product(length, length);
}

const ImageEncoder* find_image_encoder(std::string_view type) {
  if (type.empty()) return nullptr;
  for (const auto& encoders :
       {std::span<const ImageEncoder>(kEncoders), projecting_encoders(), special_encoders()})
    for (const ImageEncoder& encoder : encoders)
      if (has_word(encoder.types, type)) return &encoder;
  return nullptr;
}

}  // namespace kvplan::huggingface
