// SPDX-License-Identifier: Apache-2.0
// Vision towers and projectors: a line of a plan each, resident and read by no decode step. What no
// shape describes is named, so that nobody takes the total for the whole file's.
#include "catalog/huggingface/class_defaults.h"
#include "catalog/huggingface/towers.h"

namespace kvplan::huggingface {
namespace {

std::string type_of(const Node& config) {
  const Node* type = config.find("model_type");
  return type && type->kind == Node::scalar ? type->text : std::string();
}

Node defaults_of(std::string_view type) {
  const std::string_view text = class_defaults(type);
  return text.empty() ? Node{} : parse_yaml(text);
}

// False where no shape describes the tower.
bool read_tower(Draft& d, const Keys& top, const Node& config) {
  const Wrapper* wrapper = find_wrapper(d.model.model_type);
  if (!wrapper) return false;
  const std::string own = type_of(config),
                    type = wrapper->encoder.empty() ? own : std::string(wrapper->encoder);
  const ImageEncoder* encoder = find_image_encoder(type);
  if (!encoder) return false;
  const Node defaults = defaults_of(type);
  const Keys keys(config, &defaults);
  Count c;
  c.add(encoder->count({keys}));
  if (wrapper->projector) c.add(wrapper->projector({top, keys, d.hidden}));
  add_tower(d, "vision_tower", c.n, wrapper->apart);
  return true;
}

void read_image_tower(Draft& d) {
  if (read_named_tower(d)) return;
  const auto thinker = d.top.if_inside({"thinker_config"});
  const Keys& top = thinker ? *thinker : d.top;
  const Node* config = top.find({"vision_config"});
  const bool described = config && config->kind == Node::map && !config->members.empty();
  if (described && read_tower(d, top, *config)) return;
  if (described || d.top.has({"img_processor"}))
    d.warn("vision-not-counted", "the vision tower of '" + d.model.model_type +
                                     "' is not counted: kv-plan has no shape for it");
  for (const std::string_view name : {"audio_processor", "speech_lora", "vision_lora"})  // Phi-4
    if (d.top.has({name}))
      d.warn("part-not-counted", "what '" + std::string(name) + "' describes is not counted");
  if (d.top.has({"mm_vision_tower"}))
    d.warn("vision-not-counted", "the vision tower '" + d.top.text({"mm_vision_tower"}) +
                                     "' is not counted: kv-plan has no shape for it");
}

}  // namespace

void add_tower(Draft& d, std::string_view name, std::int64_t elements, bool apart) {
  add_vector(d.model.vision, name, Role::vision, elements);
  d.model.vision_apart = d.model.vision_apart || apart;
}

void read_vision(Draft& d) {
  if (!read_phi4_multimodal(d)) {
    read_audio(d);
    read_image_tower(d);
  }
  if (!d.model.vision_apart) return;
  std::int64_t apart = 0;
  for (const Weight& w : d.model.vision) apart = checked_add(apart, w.elements());
  d.warn("towers-apart", "the total leaves out " + std::to_string(apart) +
                             " parameters of towers, which its publisher counts apart; their "
                             "weights are counted");
}

}  // namespace kvplan::huggingface
