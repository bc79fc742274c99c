// SPDX-License-Identifier: Apache-2.0
// Encoders of images and sound, and what joins them to the text model: counted from their own
// configurations. Sources: the modelling code of huggingface/transformers v5 or, where it has none,
// the publisher's; tests/truth/parameters.yaml holds them against totals of published files.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {

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
std::int64_t count_blocks(const Blocks&);

// Keys of a tower under their usual names.
struct Tower {
  const Keys& v;

  std::int64_t width() const { return v.count({"hidden_size"}); }
  std::int64_t inner() const { return v.count({"intermediate_size"}); }
  std::int64_t depth() const { return v.count({"num_hidden_layers", "depth"}); }
  std::int64_t merge() const { return v.count_or({"spatial_merge_size"}, 2); }
  std::int64_t patch() const;      // numbers in one patch
  std::int64_t positions() const;  // patches of an image
};

// An image or a video encoder by its own model_type, or by the one of the model around it.
struct ImageEncoder {
  std::string_view types;
  std::int64_t (*count)(const Tower&);
};
const ImageEncoder* find_image_encoder(std::string_view type);  // image_encoders.cpp
std::span<const ImageEncoder> projecting_encoders();            // projecting_encoders.cpp
std::span<const ImageEncoder> special_encoders();               // special_encoders.cpp

// What a model puts between a tower of `width` outputs and its text model.
struct Joint {
  const Keys& top;
  const Keys& tower;
  std::int64_t hidden;  // of the text model

  std::int64_t width() const { return tower.count({"hidden_size"}); }
};
// A model around a tower.
struct Wrapper {
  std::string_view types;
  std::string_view encoder;  // its kind, whatever the tower says; empty: by its own model_type
  std::int64_t (*projector)(const Joint&);  // null: the encoder's own last layers project
  bool apart = false;                       // the publisher's total leaves the tower out
};
const Wrapper* find_wrapper(std::string_view model_type);  // projectors.cpp
std::span<const Wrapper> special_wrappers();               // special_projectors.cpp

// What describes a tower or a projector; its keys bear on nothing else. named_towers.cpp
std::optional<Keys> part(const Keys& around, std::string_view name);

// Adds audio encoders and their projectors; warns of those it has no shape for. audio.cpp
void read_audio(Draft&);
// granite_speech.cpp; true where it is one
bool read_granite_speech(Draft&);
// deepseek_ocr.cpp; true where it is one
bool read_deepseek_ocr(Draft&);
// phi4_multimodal.cpp; true where it is one
bool read_phi4_multimodal(Draft&);
// Adds towers that a configuration names without their widths; true where it did.
// named_towers.cpp
bool read_named_tower(Draft&);

// One line of the plan for a tower and its projector.
void add_tower(Draft&, std::string_view name, std::int64_t elements, bool apart);

}  // namespace kvplan::huggingface
