// SPDX-License-Identifier: Apache-2.0
// DeepSeek-OCR (Wei et al. 2025): SAM's encoder looks at an image first, CLIP at what is left of
// it; both outputs side by side pass one product. deepseek-ai/DeepSeek-OCR: 3,336,106,240 in all.
#include "catalog/huggingface/towers.h"

namespace kvplan::huggingface {
namespace {

Keys required_part(const Keys& around, std::string_view name) {
  if (auto found = part(around, name)) return *found;
  around.refuse({name}, "expected a map of keys");
}

// A neck of two more convolutions of stride two takes SAM's 256 channels to CLIP's width.
std::int64_t sam(const Keys& k, std::int64_t image) {
  Node shape = parse_yaml("{patch_size: 16}");
  put(shape, "hidden_size", whole_number(k.count({"width"})));
  put(shape, "num_hidden_layers", whole_number(k.count({"layers"})));
  put(shape, "num_attention_heads", whole_number(k.count({"heads"})));
  put(shape, "image_size", whole_number(image));
  const Node* global = k.find({"global_attn_indexes"});
  if (global) put(shape, "global_attn_indexes", *global);
  const Keys keys(shape);
  Count c;
  c.add(find_image_encoder("sam_vision_model")->count({keys}));
  std::int64_t channels = 256;
  for (const std::int64_t next : k.integers({"downsample_channels"})) {
    c.linear(9 * channels, next, false);
    channels = next;
  }
  return c.n;
}

// Without the norm after its blocks.
std::int64_t clip(const Keys& k) {
  const std::int64_t width = k.count({"width"});
  Node shape = map();
  put(shape, "hidden_size", whole_number(width));
  put(shape, "intermediate_size", whole_number(4 * width));
  put(shape, "num_hidden_layers", whole_number(k.count({"layers"})));
  put(shape, "image_size", whole_number(k.count({"image_size"})));
  put(shape, "patch_size", whole_number(k.count({"patch_size"})));
  const Keys keys(shape);
  return find_image_encoder("clip_vision_model")->count({keys}) - 2 * width;
}

}  // namespace

bool read_deepseek_ocr(Draft& d) {
  const auto vision = part(d.top, "vision_config");
  const auto towers = vision ? part(*vision, "width") : std::nullopt;
  if (!towers || !towers->has({"sam_vit_b"})) return false;
  const Keys projector = required_part(d.top, "projector_config");
  if (projector.text({"projector_type"}) != "linear")
    projector.refuse({"projector_type"}, "kv-plan knows a single product here");
  Count c;
  c.add(sam(required_part(*towers, "sam_vit_b"), vision->count_or({"image_size"}, 1024)));
  c.add(clip(required_part(*towers, "clip-l-14-224")));
  c.linear(projector.count({"input_dim"}), projector.count({"n_embed"}), true);
  c.vectors(2, d.hidden);  // rows that end a line and part the views
  add_tower(d, "vision_model", c.n, false);
  return true;
}

}  // namespace kvplan::huggingface
