// SPDX-License-Identifier: Apache-2.0
// Vision towers and projectors: counted from their own configurations, to the totals that their
// files have.
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

// Sums of elements; a tower is one line of a plan, its inner shape never matters to memory.
struct Count {
  std::int64_t n = 0;
  void linear(std::int64_t in, std::int64_t out, bool bias) {
    n = checked_add(n, checked_add(checked_mul(in, out), bias ? out : 0));
  }
  void vectors(std::int64_t count, std::int64_t width) {
    n = checked_add(n, checked_mul(count, width));
  }
};

// Attention with four square projections, a feed-forward of two or three matrices, two norms.
struct Blocks {
  std::int64_t depth, width, inner;
  bool attention_bias, mlp_bias, gated, norm_bias;
};
std::int64_t count_blocks(const Blocks& b) {
  Count c;
  for (int i = 0; i < 4; ++i) c.linear(b.width, b.width, b.attention_bias);
  c.linear(b.width, b.inner, b.mlp_bias);
  if (b.gated) c.linear(b.width, b.inner, b.mlp_bias);
  c.linear(b.inner, b.width, b.mlp_bias);
  c.vectors(b.norm_bias ? 4 : 2, b.width);
  return checked_mul(c.n, b.depth);
}

std::int64_t patch_elements(const Keys& v) {
  const std::int64_t patch = v.count({"patch_size"}),
                     channels = v.count_or({"in_channels", "in_chans", "num_channels"}, 3);
  return channels * patch * patch * v.count_or({"temporal_patch_size"}, 1);
}

// Joins spatial_merge_size² patches: norm, two products.
std::int64_t merger(std::int64_t width, std::int64_t merge, std::int64_t out, std::int64_t norm) {
  const std::int64_t joined = width * merge * merge;
  Count c;
  c.vectors(1, norm);
  c.linear(joined, joined, true);
  c.linear(joined, out, true);
  return c.n;
}

std::int64_t qwen2_tower(const Keys& v, std::int64_t hidden) {
  const std::int64_t width = v.count({"embed_dim", "hidden_size"}),
                     merge = v.count_or({"spatial_merge_size"}, 2);
  const auto ratio = v.integer({"mlp_ratio"}, 1);
  Count c;
  c.linear(patch_elements(v), width, false);
  c.n +=
      count_blocks({v.count({"depth"}), width, width * ratio.value_or(4), true, true, false, true});
  c.n += merger(width, merge, hidden, 2 * width);
  return c.n;
}

std::int64_t qwen25_tower(const Keys& v) {
  const std::int64_t width = v.count({"hidden_size"}),
                     merge = v.count_or({"spatial_merge_size"}, 2);
  Count c;
  c.linear(patch_elements(v), width, false);
  c.n += count_blocks(
      {v.count({"depth"}), width, v.count({"intermediate_size"}), true, true, true, false});
  c.n += merger(width, merge, v.count({"out_hidden_size"}), width);
  return c.n;
}

std::int64_t qwen3_tower(const Keys& v) {
  const std::int64_t width = v.count({"hidden_size"}),
                     merge = v.count_or({"spatial_merge_size"}, 2),
                     out = v.count({"out_hidden_size"});
  const auto deep = static_cast<std::int64_t>(v.integers({"deepstack_visual_indexes"}).size());
  Count c;
  c.linear(patch_elements(v), width, true);
  c.vectors(v.count({"num_position_embeddings"}), width);
  c.n += count_blocks(
      {v.count({"depth"}), width, v.count({"intermediate_size"}), true, true, false, true});
  c.n += merger(width, merge, out, 2 * width);
  c.n += deep * merger(width, merge, out, 2 * width * merge * merge);
  return c.n;
}

std::int64_t positions(const Keys& v) {
  const std::int64_t side = v.count({"image_size"}) / v.count({"patch_size"});
  return side * side;
}

std::int64_t llama4_tower(const Keys& v, std::int64_t hidden) {
  const std::int64_t width = v.count({"hidden_size"}), out = v.count({"projector_output_dim"});
  Count c;
  c.linear(patch_elements(v), width, false);
  c.vectors(1 + positions(v) + 1, width);  // class token, positions with it
  c.vectors(4, width);                     // norms before and after
  c.n += count_blocks({v.count({"num_hidden_layers"}), width, v.count({"intermediate_size"}), true,
                       true, false, true});
  // Pixel shuffle at ratio 1/2 joins four patches.
  c.linear(4 * width, v.count({"projector_input_dim"}), false);
  c.linear(v.count({"projector_input_dim"}), out, false);
  c.linear(out, hidden, false);
  return c.n;
}

// SigLIP with one projection and a norm (Gemma 3).
std::int64_t gemma3_tower(const Keys& v, std::int64_t hidden) {
  const std::int64_t width = v.count({"hidden_size"});
  Count c;
  c.linear(patch_elements(v), width, true);
  c.vectors(positions(v) + 2, width);
  c.n += count_blocks({v.count({"num_hidden_layers"}), width, v.count({"intermediate_size"}), true,
                       true, false, true});
  c.vectors(1 + hidden, width);
  return c.n;
}

// CLIP with a two-layer projector (LLaVA 1.5).
std::int64_t llava_tower(const Keys& v, std::int64_t hidden) {
  const std::int64_t width = v.count({"hidden_size"});
  Count c;
  c.linear(patch_elements(v), width, false);
  c.vectors(1 + positions(v) + 1 + 4, width);
  c.n += count_blocks({v.count({"num_hidden_layers"}), width, v.count({"intermediate_size"}), true,
                       true, false, true});
  c.linear(width, hidden, true);
  c.linear(hidden, hidden, true);
  return c.n;
}

// Pixtral with a patch merger (Mistral 3).
std::int64_t pixtral_tower(const Keys& v, std::int64_t hidden, std::int64_t merge) {
  const std::int64_t width = v.count({"hidden_size"});
  Count c;
  c.linear(patch_elements(v), width, false);
  c.vectors(2, width);
  c.n += count_blocks({v.count({"num_hidden_layers"}), width, v.count({"intermediate_size"}), false,
                       false, true, false});
  c.linear(merge * merge * width, width, false);
  c.linear(width, hidden, false);
  c.linear(hidden, hidden, false);
  return c.n;
}

// Llama 3.2 Vision: tiles with embeddings of their own for each aspect ratio, two stacks of blocks,
// the second with gates.
std::int64_t mllama_tower(const Keys& v, std::int64_t hidden) {
  const std::int64_t width = v.count({"hidden_size"}), inner = v.count({"intermediate_size"}),
                     tiles = v.count({"max_num_tiles"}), with_class = positions(v) + 1;
  const Node* ratios = v.find({"supported_aspect_ratios"});
  const std::int64_t shapes = (ratios ? static_cast<std::int64_t>(ratios->items.size()) : 8) + 1;
  const std::int64_t global = v.count({"num_global_layers"});
  Count c;
  c.linear(patch_elements(v), width, false);
  c.vectors(1 + with_class + 4, width);           // class token, positions, norms before and after
  c.vectors(shapes * tiles, with_class * width);  // positions within each tile
  c.vectors(2 * shapes * tiles, width);           // of tiles, before and after
  c.vectors(3 + 2 * global, 1);                   // gates
  c.n += count_blocks(
      {v.count({"num_hidden_layers"}) + global, width, inner, false, true, false, true});
  c.linear(v.count({"vision_output_dim"}), hidden, true);
  return c.n;
}

std::optional<std::int64_t> tower(const Draft& d, const Keys& v) {
  const std::string_view type = d.family.model_type;
  if (type == "qwen2_vl") return qwen2_tower(v, d.hidden);
  if (type == "qwen2_5_vl") return qwen25_tower(v);
  if (type.starts_with("qwen3_vl") || type.starts_with("qwen3_5")) return qwen3_tower(v);
  if (type.starts_with("llama4")) return llama4_tower(v, d.hidden);
  if (type == "gemma3") return gemma3_tower(v, d.hidden);
  if (type == "mllama") return mllama_tower(v, d.hidden);
  if (type == "llava") return llava_tower(v, d.hidden);
  if (type == "mistral3")
    return pixtral_tower(v, d.hidden, d.top.count_or({"spatial_merge_size"}, 2));
  return std::nullopt;
}

}  // namespace

void read_vision(Draft& d) {
  const Node* config = d.top.find({"vision_config"});
  if (!config || config->kind != Node::map || config->members.empty()) return;
  if (const auto elements = tower(d, Keys(*config))) {
    add_vector(d.model.vision, "vision_tower", Role::vision, *elements);
    return;
  }
  d.model.warnings.push_back(
      {"vision-not-counted", "the vision tower of '" + std::string(d.family.model_type) +
                                 "' is not counted: kv-plan has no shape for it"});
}

}  // namespace kvplan::huggingface
