// SPDX-License-Identifier: Apache-2.0
// Vision transformers whose own last layers join patches and reach the text model's width.
#include "catalog/huggingface/towers.h"

namespace kvplan::huggingface {
namespace {

// Joins spatial_merge_size² patches: a norm, two products.
std::int64_t merger(std::int64_t width, std::int64_t merge, std::int64_t out, std::int64_t norm) {
  const std::int64_t joined = product(width, merge, merge);
  Count c;
  c.add(norm);
  c.linear(joined, joined, true);
  c.linear(joined, out, true);
  return c.n;
}

std::int64_t qwen2(const Tower& t) {
  const std::int64_t width = t.v.count({"embed_dim"});
  Count c;
  c.linear(t.patch(), width, false);
  c.add(count_blocks({t.depth(), width, width * t.v.count_or({"mlp_ratio"}, 4)}));
  c.add(merger(width, t.merge(), t.v.count({"hidden_size"}), 2 * width));
  return c.n;
}

std::int64_t qwen25(const Tower& t) {
  Count c;
  c.linear(t.patch(), t.width(), false);
  c.add(count_blocks({t.depth(), t.width(), t.inner(), true, true, true, false}));
  c.add(merger(t.width(), t.merge(), t.v.count({"out_hidden_size"}), t.width()));
  return c.n;
}

// The same with fewer heads of keys and values than of queries (EXAONE 4.5).
std::int64_t exaone45(const Tower& t) {
  const std::int64_t width = t.width(), heads = t.v.count({"num_heads", "num_attention_heads"}),
                     kv_heads = t.v.count_or({"num_key_value_heads"}, heads);
  if (width % heads != 0) t.v.refuse({"num_heads"}, "does not divide the width");
  const std::int64_t spared = 2 * (heads - kv_heads) * (width / heads);
  return checked_sub(qwen25(t), product(t.depth(), spared, width + 1));
}

// Some layers' outputs go to the text model too, each through a merger of its own.
std::int64_t qwen3(const Tower& t) {
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

// The feed-forward is as wide as the output; a convolution joins patches, a gated merger follows.
std::int64_t glm4v(const Tower& t) {
  const std::int64_t width = t.width(), out = t.v.count({"out_hidden_size"}), merge = t.merge();
  const bool biased = t.v.flag({"attention_bias"});
  Count c;
  c.linear(t.patch(), width, true);
  c.vectors(t.positions(), width);
  c.add(count_blocks({t.depth(), width, out, false, false, true, false}));
  if (biased) c.vectors(3 * t.depth(), width);
  c.vectors(2, width);
  c.linear(product(width, merge, merge), out, true);
  c.linear(out, out, false);
  c.vectors(2, out);
  c.linear(out, 3 * t.inner(), false);
  return c.n;
}

std::int64_t llama4(const Tower& t) {
  const std::int64_t width = t.width(), in = t.v.count({"projector_input_dim"}),
                     out = t.v.count({"projector_output_dim"});
  Count c;
  c.linear(t.patch(), width, false);
  c.vectors(1 + t.positions() + 1, width);  // class token, positions with it
  c.vectors(4, width);                      // norms before and after
  c.add(count_blocks({t.depth(), width, t.inner()}));
  c.linear(t.inner(), in, false);  // four patches joined are as wide
  c.linear(in, out, false);
  return c.n;
}

// Tiles with embeddings of their own for each aspect ratio; two stacks of blocks, the second with
// gates.
std::int64_t mllama(const Tower& t) {
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
  return c.n;
}

// MiniMax-M3: patches of two frames, rotary positions, a norm before the blocks.
std::int64_t minimax_m3(const Tower& t) {
  const std::int64_t frames = t.v.has({"temporal_patch_size"}) ? 1 : 2;  // of a bare patch
  Count c;
  c.linear(frames * t.patch(), t.width(), false);
  c.vectors(2, t.width());
  c.add(count_blocks({t.depth(), t.width(), t.inner()}));
  return c.n;
}

constexpr ImageEncoder kEncoders[] = {
    {"qwen2_vl", qwen2},
    {"qwen2_5_vl", qwen25},
    {"exaone4_5_vision", exaone45},
    {"qwen3_vl qwen3_5", qwen3},
    {"glm4v_vision glm4v_moe_vision", glm4v},
    {"llama4_vision_model", llama4},
    {"mllama_vision_model", mllama},
    {"minimax_m3_vl_vision", minimax_m3},
};

}  // namespace

std::span<const ImageEncoder> projecting_encoders() { return kEncoders; }

}  // namespace kvplan::huggingface
