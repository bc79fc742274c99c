// SPDX-License-Identifier: Apache-2.0
// Phi-4-multimodal (Microsoft 2025): SigLIP, a conformer, and adapters (LoRA) of the text model for
// images and for speech. Sources: huggingface/transformers 5.24; the published file of
// microsoft/Phi-4-multimodal-instruct, 5,574,460,384 numbers.
#include "catalog/huggingface/towers.h"

namespace kvplan::huggingface {
namespace {

// Three convolutions halve time and frequency, the later two depthwise.
std::int64_t front(const Keys& k, std::int64_t width, std::int64_t bins) {
  const auto nested = k.if_inside({"nemo_conv_settings"});
  const std::int64_t channels = (nested ? *nested : k)
                                    .count_or({"conv_channels", "nemo_conv_channels"}, 1024),
                     reduction = k.count_or({"time_reduction"}, 8);
  Count c;
  c.linear(9, channels, true);
  for (std::int64_t by = 2; by < reduction; by *= 2) {
    c.linear(9, channels, true);
    c.linear(channels, channels, true);
  }
  c.linear(product(channels, ceil_div(bins, reduction)), width, true);
  return c.n;
}

// Two gated feed-forwards around attention and a convolution.
std::int64_t block(const Keys& k, std::int64_t width) {
  const std::int64_t inner = k.count_or({"linear_units", "intermediate_size"}, 1536);
  Count c;
  for (int half = 0; half < 2; ++half) {
    c.linear(width, 2 * inner, true);
    c.linear(inner, width, true);
  }
  for (int i = 0; i < 4; ++i) c.linear(width, width, true);
  c.linear(width, 2 * width, true);                          // gated
  c.vectors(k.count_or({"kernel_size"}, 3) + 1, width);      // depthwise
  for (int i = 0; i < 2; ++i) c.linear(width, width, true);  // pointwise
  c.vectors(2 + 2 * 5, width);                               // of the gate; norms
  return c.n;
}

// The file keeps the mean and the deviation of its inputs.
std::int64_t speech(const Keys& k) {
  const std::int64_t width = k.count_or({"attention_dim", "hidden_size"}, 1024),
                     bins = k.count_or({"input_size"}, 80);
  const auto nested = k.if_inside({"relative_attention_bias_args"});
  const std::int64_t distance =
      (nested ? *nested : k).count_or({"t5_bias_max_distance", "bias_max_distance"}, 1000);
  Count c;
  c.add(front(k, width, bins));
  c.add(product(2 * distance, k.count_or({"attention_heads", "num_attention_heads"}, 16)));
  c.add(product(block(k, width), k.count_or({"num_blocks"}, 24)));
  c.vectors(2, bins);
  return c.n;
}

std::int64_t two_products(std::int64_t in, std::int64_t out) {
  Count c;
  c.linear(in, out, true);
  c.linear(out, out, true);
  return c.n;
}

// Two learned rows part the views of an image.
std::int64_t image(const Keys& k, std::int64_t hidden) {
  const Tower tower{k};
  Count c;
  c.add(find_image_encoder("siglip_vision_model")->count(tower));
  c.vectors(2, tower.width());
  c.add(two_products(tower.width(), hidden));
  return c.n;
}

// Two products of rank `r` beside each of a layer's four.
std::int64_t adapters(const Draft& d, std::int64_t rank) {
  const std::int64_t queries = d.heads * d.head_dim, qkv = queries + 2 * d.kv_heads * d.head_dim;
  const std::int64_t sides =
      (d.hidden + qkv) + (queries + d.hidden) + (d.hidden + 2 * d.inner) + (d.inner + d.hidden);
  return product(product(sides, rank), d.layers);
}

constexpr std::string_view kImage =
    "{hidden_size: 1152, intermediate_size: 4304, num_hidden_layers: 27, image_size: 448, "
    "patch_size: 14}";

}  // namespace

bool read_phi4_multimodal(Draft& d) {
  if (d.model.model_type != "phi4mm" && d.model.model_type != "phi4_multimodal") return false;
  const auto processor = part(d.top, "audio_processor");
  const auto audio = processor ? part(*processor, "config") : part(d.top, "audio_config");
  if (!audio) return false;
  const Node shape = parse_yaml(kImage), none = map();
  const Node* vision = d.top.find({"vision_config"});
  const Keys seen(vision && vision->kind == Node::map ? *vision : none, &shape);
  const std::int64_t width = audio->count_or({"attention_dim", "hidden_size"}, 1024);
  add_tower(d, "vision_tower", image(seen, d.hidden), false);
  add_tower(d, "audio_tower", speech(*audio) + 2 * two_products(width, d.hidden), false);
  for (const std::string_view name : {"vision_lora", "speech_lora"})
    if (const auto lora = part(d.top, name); lora && processor)
      add_tower(d, "lora", adapters(d, lora->count({"r"})), false);
  return true;
}

}  // namespace kvplan::huggingface
