// SPDX-License-Identifier: Apache-2.0
// A model while it is being read: its keys, its family's traits, and the widths that every reader
// needs.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "catalog/huggingface/keys.h"
#include "model/spec.h"

namespace kvplan::huggingface {

struct Draft;

// What a model_type implies without saying it in its configuration.
struct Family {
  enum Norm { rms, layer_norm, layer_norm_without_bias };
  enum QkNorm { none, per_head, per_layer };

  std::string_view model_type;
  bool tied = false;
  Norm norm = rms;
  int norms_per_layer = 2;
  QkNorm qk_norm = none;
  bool gated = true;      // three matrices in a feed-forward; otherwise two
  bool qkv_bias = false;  // whatever attention_bias says
  bool o_bias = false;
  bool bias_reaches_o = true;  // attention_bias adds one to the output projection too
  bool mlp_bias = false;
  bool head_bias = false;
  bool embedding_norm = false;
  std::int64_t extra_positions =
      -1;                          // learned position table of context + this many rows; -1 = none
  std::int64_t inner_divisor = 1;  // intermediate_size is this many times the real width (Qwen1: 2)
  bool all_window = false;         // sliding_window applies to every layer
  // Whole layer i (mixer and weights); null: decoder_layer.
  void (*layer)(Draft&, std::int64_t i, Layer&) = nullptr;
  // After all layers: towers, MTP, corrections.
  void (*finish)(Draft&) = nullptr;
};

struct Draft {
  const Node& config;  // whole file
  Keys top;            // its outermost keys
  Keys keys;           // the text model's
  const Family& family;
  ModelSpec& model;

  std::int64_t hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, vocabulary = 0;
  std::int64_t inner = 0;  // dense feed-forward width; 0 where every layer has experts only
};

// ---- building blocks (weights.cpp)
// --------------------------------------------------------------------------------

using Weights = std::vector<Weight>;
void add_matrix(Weights&, std::string_view name, Role, std::int64_t rows, std::int64_t columns,
                Sharding = Sharding::split);
void add_vector(Weights&, std::string_view name, Role, std::int64_t elements);
// A normalisation over `width` numbers, with a bias where the family's norm has one.
void add_norm(const Draft&, Weights&, std::string_view name, std::int64_t width);
// gate, up and down of one feed-forward of this width (up and down where the family is not gated),
// with its biases.
void add_feed_forward(const Draft&, Weights&, Role, std::int64_t inner, std::int64_t hidden,
                      std::int64_t copies = 1, std::int64_t active = 1);

// ---- readers by subject
// -------------------------------------------------------------------------------------------

void read_widths(Draft&);                                   // widths.cpp
Reach reach_of(const Draft&, std::int64_t layer);           // reach.cpp
bool is_linear_layer(const Draft&, std::int64_t layer);     // reach.cpp
void decoder_layer(Draft&, std::int64_t i, Layer&);         // decoder.cpp
void add_attention(Draft&, std::int64_t i, Layer&);         // attention.cpp: picks MLA or heads
void add_heads(Draft&, Layer&, const Attention&, Reach);    // attention.cpp
void add_latent_attention(Draft&, std::int64_t i, Layer&);  // latent.cpp
void add_mixer_of_experts_or_mlp(Draft&, std::int64_t i, Layer&);  // experts.cpp
void add_gated_delta_net(Draft&, Layer&);                          // state.cpp
void add_kda(Draft&, Layer&);                                      // state.cpp
void add_mamba2(Draft&, Layer&);                                   // state.cpp
void add_mamba1(Draft&, Layer&);                                   // state.cpp
void add_short_conv(Draft&, Layer&);                               // state.cpp
void read_vision(Draft&);                                          // vision.cpp
void read_mtp(Draft&);                                             // mtp.cpp
void read_formats(Draft&, const Node* quantization);               // quantisation.cpp

// The family of a model_type, or nullptr.
const Family* find_family(std::string_view model_type);  // families.cpp

}  // namespace kvplan::huggingface
