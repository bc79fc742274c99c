// SPDX-License-Identifier: Apache-2.0
// Encoders of sound: Whisper's and its kin, and the conformers of Gemma (Universal Speech Model,
// Zhang et al. 2023).
#include "catalog/huggingface/class_defaults.h"
#include "catalog/huggingface/towers.h"
#include "word_list.h"

namespace kvplan::huggingface {
namespace {

// Blocks whose key projection has no bias, but in Qwen3-Omni.
std::int64_t whisper_blocks(const Keys& k, bool k_biased) {
  const std::int64_t width = k.count_or({"d_model", "hidden_size"}, 1280),
                     depth = k.count_or({"encoder_layers", "num_hidden_layers"}, 32),
                     inner = k.count_or({"encoder_ffn_dim", "intermediate_size"}, 5120);
  Count c;
  c.add(count_blocks({depth, width, inner}));
  if (!k_biased) c.add(-product(depth, width));
  c.vectors(2, width);
  return c.n;
}

std::int64_t width_of(const Keys& k) { return k.count_or({"d_model", "hidden_size"}, 1280); }

// Two convolutions of three taps.
std::int64_t whisper_front(const Keys& k) {
  const std::int64_t width = width_of(k);
  Count c;
  c.linear(3 * k.count_or({"num_mel_bins"}, 128), width, true);
  c.linear(3 * width, width, true);
  return c.n;
}

std::int64_t whisper(const Keys& k) {
  Count c;
  c.add(whisper_front(k));
  c.vectors(k.count_or({"max_source_positions"}, 1500), width_of(k));
  c.add(whisper_blocks(k, false));
  return c.n;
}

std::int64_t qwen2_audio(const Keys& k, std::int64_t hidden) {
  Count c;
  c.add(whisper(k));
  c.linear(width_of(k), hidden, true);
  return c.n;
}

// Four frames joined: as wide as a feed-forward.
std::int64_t voxtral(const Keys& k, std::int64_t hidden) {
  Count c;
  c.add(whisper(k));
  c.linear(k.count_or({"intermediate_size"}, 5120), hidden, false);
  c.linear(hidden, hidden, false);
  return c.n;
}

// Whisper and two products.
std::int64_t flamingo(const Keys& k, std::int64_t hidden) {
  Count c;
  c.add(whisper(k));
  c.linear(width_of(k), hidden, true);
  c.linear(hidden, hidden, true);
  return c.n;
}

// Voxtral Realtime: a causal Whisper with rotary positions, heads narrower than the width and a
// gated feed-forward.
std::int64_t voxtral_realtime(const Keys& k, std::int64_t hidden) {
  const std::int64_t width = width_of(k), inner = k.count_or({"intermediate_size"}, 5120),
                     heads = k.count_or({"num_attention_heads"}, 32) * k.count_or({"head_dim"}, 64);
  Count block;
  block.linear(width, 3 * heads, false);
  block.linear(heads, width, true);
  block.vectors(2, heads);  // biases of queries and values
  block.linear(width, 2 * inner, false);
  block.linear(inner, width, true);
  block.vectors(2, width);
  Count c;
  c.add(whisper_front(k));
  c.add(product(block.n, k.count_or({"num_hidden_layers"}, 32)));
  c.add(width);
  c.linear(4 * width, hidden, false);
  c.linear(hidden, hidden, false);
  return c.n;
}

// Rotary positions; four frames joined pass twice the hidden width.
std::int64_t glm_asr(const Keys& k, std::int64_t hidden) {
  Count c;
  c.add(whisper_front(k));
  c.add(whisper_blocks(k, false));
  c.linear(k.count_or({"intermediate_size"}, 5120), 2 * hidden, true);
  c.linear(2 * hidden, hidden, true);
  return c.n;
}

// Positions are computed; two learned rows mark where sound begins and ends.
std::int64_t qwen25_omni(const Keys& k, std::int64_t) {
  const std::int64_t out = k.count_or({"output_dim"}, 3584);
  Count c;
  c.add(whisper_front(k));
  c.add(whisper_blocks(k, false));
  c.linear(width_of(k), out, true);
  c.vectors(2, out);
  return c.n;
}

// Three convolutions halve time and frequency; two products at the end.
std::int64_t qwen3_omni(const Keys& k, std::int64_t) {
  const std::int64_t width = width_of(k), channels = k.count_or({"downsample_hidden_size"}, 480);
  std::int64_t bins = k.count_or({"num_mel_bins"}, 128);
  for (int i = 0; i < 3; ++i) bins = (bins + 1) / 2;
  Count c;
  c.linear(9, channels, true);
  for (int i = 0; i < 2; ++i) c.linear(9 * channels, channels, true);
  c.linear(product(channels, bins), width, false);
  c.add(whisper_blocks(k, true));
  c.linear(width, width, true);
  c.linear(width, k.count_or({"output_dim"}, 3584), true);
  return c.n;
}

struct Conformer {
  std::int64_t width, depth, heads, taps, first, second, bins;
};

// A block: two feed-forwards of 4 x width, attention with a projection of relative positions, a
// light convolution, norms. Before them two 3 x 3 convolutions of stride two.
std::int64_t conformer(const Conformer& f) {
  Count block;
  block.linear(f.width, 24 * f.width, false);  // 16 feed-forward, 5 attention, 3 convolution
  block.vectors(9 + f.taps, f.width);
  block.add(f.width / f.heads);
  Count c;
  c.add(product(block.n, f.depth));
  c.add(product(9, f.first) + f.first);
  c.add(product(9, f.first, f.second) + f.second);
  c.linear(product(f.second, f.bins / 4), f.width, false);
  return c.n;
}

// Its codes have a table, norms and a projection of their own.
std::int64_t gemma3n(const Keys& k, std::int64_t hidden) {
  const std::int64_t width = k.count_or({"hidden_size"}, 1536);
  Count c;
  c.add(conformer({width, k.count_or({"conf_num_hidden_layers"}, 12),
                   k.count_or({"conf_num_attention_heads"}, 8),
                   k.count_or({"conf_conv_kernel_size"}, 5),
                   k.entry_integer({"sscp_conv_channel_size"}, 0).value_or(128),
                   k.entry_integer({"sscp_conv_channel_size"}, 1).value_or(32),
                   k.count_or({"input_feat_size"}, 128)}));
  c.vectors(k.count_or({"vocab_size"}, 128) + 2, width);
  c.linear(width, hidden, false);
  return c.n;
}

// Ten clipped products a block keep four bounds each.
std::int64_t gemma4(const Keys& k, std::int64_t hidden) {
  const std::int64_t width = k.count_or({"hidden_size"}, 1024),
                     depth = k.count_or({"num_hidden_layers"}, 12),
                     out = k.count_or({"output_proj_dims"}, 1536);
  Count c;
  c.add(conformer({width, depth, k.count_or({"num_attention_heads"}, 8),
                   k.count_or({"conv_kernel_size"}, 5),
                   k.entry_integer({"subsampling_conv_channels"}, 0).value_or(128),
                   k.entry_integer({"subsampling_conv_channels"}, 1).value_or(32), 128}));
  if (k.flag({"use_clipped_linears"}, true)) c.vectors(depth, 10 * 4);
  c.linear(width, out, true);
  c.linear(out, hidden, false);
  return c.n;
}

// By the model around the encoder.
struct Shape {
  std::string_view types;
  std::int64_t (*count)(const Keys&, std::int64_t hidden);
  bool apart = false;
};
constexpr Shape kShapes[] = {
    {"gemma3n", gemma3n},
    {"gemma4", gemma4, true},
    {"audioflamingo3 musicflamingo", flamingo},
    {"glmasr", glm_asr},
    {"qwen2_audio", qwen2_audio},
    {"qwen2_5_omni qwen2_5_omni_thinker", qwen25_omni},
    {"qwen3_omni_moe qwen3_omni_moe_thinker qwen3_asr", qwen3_omni},
    {"voxtral", voxtral},
    {"voxtral_realtime", voxtral_realtime},
};

const Shape* find_shape(std::string_view type) {
  for (const Shape& shape : kShapes)
    if (has_word(shape.types, type)) return &shape;
  return nullptr;
}

void add_encoder(Draft& d, const Shape& shape, const Node& config) {
  const Node* type = config.find("model_type");
  const std::string_view of_class = type ? class_defaults(type->text) : "";
  const Node defaults = of_class.empty() ? Node{} : parse_yaml(of_class);
  add_tower(d, "audio_tower", shape.count(Keys(config, &defaults), d.hidden), shape.apart);
}

}  // namespace

void read_audio(Draft& d) {
  if (read_granite_speech(d)) return;
  const auto thinker = d.top.if_inside({"thinker_config"});
  const Node* config = (thinker ? *thinker : d.top).find({"audio_config"});
  if (!config) config = d.keys.find({"audio_config"});
  if (!config || config->kind != Node::map) return;
  if (const Shape* shape = find_shape(d.model.model_type)) return add_encoder(d, *shape, *config);
  d.warn("audio-not-counted", "the audio encoder of '" + d.model.model_type +
                                  "' is not counted: kv-plan has no shape for it");
}

}  // namespace kvplan::huggingface
