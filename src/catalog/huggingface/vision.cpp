// SPDX-License-Identifier: Apache-2.0
// Vision towers and projectors: counted from their own configurations, to the totals that their
// files have. A tower is one line of a plan: resident, read by no decode step.
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

struct Count {
  std::int64_t n = 0;
  void add(std::int64_t elements) { n = checked_add(n, elements); }
  void linear(std::int64_t in, std::int64_t out, bool bias) {
    add(checked_add(product(in, out), bias ? out : 0));
  }
  void vectors(std::int64_t count, std::int64_t width) { add(product(count, width)); }
};

// Transformer blocks: four square projections, a feed-forward of two or three matrices, two norms.
struct Blocks {
  std::int64_t depth, width, inner;
  bool attention_bias = true, mlp_bias = true, gated = false, norm_bias = true;
};
std::int64_t count_blocks(const Blocks& b) {
  Count c;
  for (int i = 0; i < 4; ++i) c.linear(b.width, b.width, b.attention_bias);
  c.linear(b.width, b.inner, b.mlp_bias);
  if (b.gated) c.linear(b.width, b.inner, b.mlp_bias);
  c.linear(b.inner, b.width, b.mlp_bias);
  c.vectors(b.norm_bias ? 4 : 2, b.width);
  return product(c.n, b.depth);
}

// Keys of a `vision_config` under their usual names.
struct Tower {
  const Keys& v;
  const Draft& d;

  std::int64_t width() const { return v.count({"hidden_size"}); }
  std::int64_t inner() const { return v.count({"intermediate_size"}); }
  std::int64_t depth() const { return v.count({"num_hidden_layers", "depth"}); }
  std::int64_t merge() const { return v.count_or({"spatial_merge_size"}, 2); }
  std::int64_t patch() const {
    const std::int64_t side = v.count({"patch_size"});
    const std::int64_t channels = v.count_or({"in_channels", "in_chans", "num_channels"}, 3);
    return product(product(channels, side, side), v.count_or({"temporal_patch_size"}, 1));
  }
  std::int64_t positions() const {
    const std::int64_t side = v.count({"image_size"}) / v.count({"patch_size"});
    return product(side, side);
  }
};

// Joins spatial_merge_size² patches: a norm, two products.
std::int64_t merger(std::int64_t width, std::int64_t merge, std::int64_t out, std::int64_t norm) {
  const std::int64_t joined = product(width, merge, merge);
  Count c;
  c.add(norm);
  c.linear(joined, joined, true);
  c.linear(joined, out, true);
  return c.n;
}

std::int64_t qwen2_tower(const Tower& t) {
  const std::int64_t width = t.v.count({"embed_dim", "hidden_size"});
  Count c;
  c.linear(t.patch(), width, false);
  c.add(count_blocks({t.depth(), width, width * t.v.count_or({"mlp_ratio"}, 4)}));
  c.add(merger(width, t.merge(), t.d.hidden, 2 * width));
  return c.n;
}

std::int64_t qwen25_tower(const Tower& t) {
  Count c;
  c.linear(t.patch(), t.width(), false);
  c.add(count_blocks({t.depth(), t.width(), t.inner(), true, true, true, false}));
  c.add(merger(t.width(), t.merge(), t.v.count({"out_hidden_size"}), t.width()));
  return c.n;
}

// Some layers' outputs go to the text model too, each through a merger of its own.
std::int64_t qwen3_tower(const Tower& t) {
  const std::int64_t width = t.width(), merge = t.merge(), out = t.v.count({"out_hidden_size"});
  Count c;
  c.linear(t.patch(), width, true);
  c.vectors(t.v.count({"num_position_embeddings"}), width);
  c.add(count_blocks({t.depth(), width, t.inner()}));
  c.add(merger(width, merge, out, 2 * width));
  c.add(product(t.v.length({"deepstack_visual_indexes"}),
                merger(width, merge, out, product(2 * width, merge, merge))));
  return c.n;
}

std::int64_t llama4_tower(const Tower& t) {
  const std::int64_t width = t.width(), in = t.v.count({"projector_input_dim"}),
                     out = t.v.count({"projector_output_dim"});
  Count c;
  c.linear(t.patch(), width, false);
  c.vectors(1 + t.positions() + 1, width);  // class token, positions with it
  c.vectors(4, width);                      // norms before and after
  c.add(count_blocks({t.depth(), width, t.inner()}));
  c.linear(4 * width, in, false);  // pixel shuffle at ratio 1/2 joins four patches
  c.linear(in, out, false);
  c.linear(out, t.d.hidden, false);
  return c.n;
}

// SigLIP with one projection and a norm.
std::int64_t gemma3_tower(const Tower& t) {
  Count c;
  c.linear(t.patch(), t.width(), true);
  c.vectors(t.positions() + 2, t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner()}));
  c.vectors(1 + t.d.hidden, t.width());
  return c.n;
}

// CLIP with a projector of two products (LLaVA 1.5).
std::int64_t llava_tower(const Tower& t) {
  Count c;
  c.linear(t.patch(), t.width(), false);
  c.vectors(1 + t.positions() + 1 + 4, t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner()}));
  c.linear(t.width(), t.d.hidden, true);
  c.linear(t.d.hidden, t.d.hidden, true);
  return c.n;
}

// Pixtral with a patch merger.
std::int64_t mistral3_tower(const Tower& t) {
  const std::int64_t merge = t.d.top.count_or({"spatial_merge_size"}, 2);
  Count c;
  c.linear(t.patch(), t.width(), false);
  c.vectors(2, t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner(), false, false, true, false}));
  c.linear(product(merge, merge, t.width()), t.width(), false);
  c.linear(t.width(), t.d.hidden, false);
  c.linear(t.d.hidden, t.d.hidden, false);
  return c.n;
}

// Tiles with embeddings of their own for each aspect ratio; two stacks of blocks, the second with
// gates.
std::int64_t mllama_tower(const Tower& t) {
  const std::int64_t width = t.width(), tiles = t.v.count({"max_num_tiles"}),
                     ratios = t.v.length({"supported_aspect_ratios"}) + 1,
                     with_class = t.positions() + 1, global = t.v.count({"num_global_layers"});
  Count c;
  c.linear(t.patch(), width, false);
  c.vectors(1 + with_class + 4, width);               // class token, positions, two norms
  c.add(product(ratios * tiles, with_class, width));  // positions within each tile
  c.vectors(2 * ratios * tiles, width);               // of tiles, before and after
  c.vectors(3 + 2 * global, 1);                       // gates
  c.add(count_blocks({t.depth() + global, width, t.inner(), false}));
  c.linear(t.v.count({"vision_output_dim"}), t.d.hidden, true);
  return c.n;
}

// InternViT with layer scales; a pixel shuffle joins four patches for a projector of two products.
std::int64_t internvl_tower(const Tower& t) {
  Count c;
  c.linear(t.patch(), t.width(), true);
  c.vectors(1 + t.positions() + 1, t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner()}));
  c.vectors(2 * t.depth(), t.width());
  c.vectors(2, 4 * t.width());
  c.linear(4 * t.width(), t.d.hidden, true);
  c.linear(t.d.hidden, t.d.hidden, true);
  return c.n;
}

struct Shape {
  std::string_view model_type;
  std::int64_t (*count)(const Tower&);
};
constexpr Shape kShapes[] = {
    {"gemma3", gemma3_tower},     {"internvl_chat", internvl_tower}, {"llama4", llama4_tower},
    {"llava", llava_tower},       {"mistral3", mistral3_tower},      {"mllama", mllama_tower},
    {"qwen2_5_vl", qwen25_tower}, {"qwen2_vl", qwen2_tower},         {"qwen3_5", qwen3_tower},
    {"qwen3_5_moe", qwen3_tower}, {"qwen3_vl", qwen3_tower},         {"qwen3_vl_moe", qwen3_tower},
};

// What no shape describes is named, so that nobody takes the total for the whole file's.
void warn_of_other_towers(Draft& d) {
  if (d.top.has({"audio_config"}) || d.keys.has({"audio_config"}))
    d.warn("audio-not-counted", "the audio encoder of '" + d.model.model_type +
                                    "' is not counted: kv-plan has no shape for it");
  if (d.top.has({"img_processor"}))  // Phi-3-vision: CLIP by its name, no widths
    d.warn("vision-not-counted",
           "the vision tower that 'img_processor' names is not counted: the "
           "configuration does not give its widths");
}

}  // namespace

void read_vision(Draft& d) {
  warn_of_other_towers(d);
  const Node* config = d.top.find({"vision_config"});
  if (!config || config->members.empty()) return;
  for (const Shape& shape : kShapes) {
    if (shape.model_type != d.model.model_type) continue;
    add_vector(d.model.vision, "vision_tower", Role::vision, shape.count({Keys(*config), d}));
    return;
  }
  d.warn("vision-not-counted", "the vision tower of '" + d.model.model_type +
                                   "' is not counted: kv-plan has no shape for it");
}

}  // namespace kvplan::huggingface
