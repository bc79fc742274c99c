// SPDX-License-Identifier: Apache-2.0
// What a model_type implies without saying it in its configuration.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/spec.h"

namespace kvplan::huggingface {

struct Draft;

struct Family {
  enum Norm { rms, layer_norm, layer_norm_without_bias, unweighted };
  enum QkNorm { no_qk_norm, per_head, per_layer };

  std::string_view types;  // model_type values, separated by blanks
  bool tied = false;       // where tie_word_embeddings is absent
  Norm norm = rms;
  int norms = 2;  // per layer
  QkNorm qk_norm = no_qk_norm;
  bool qk_norm_on_request = false;  // only where use_qk_norm or qk_layernorm is set

  bool gated = true;           // three matrices in a feed-forward; otherwise two
  bool qkv_bias = false;       // whatever attention_bias says
  bool o_bias = false;         //
  bool bias_reaches_o = true;  // attention_bias adds one to the output projection too
  bool mlp_bias = false;
  bool head_bias = false;
  bool output_gate = false;  // the query projection also makes a gate for the output
  bool head_gate = false;    // a projection of its own makes a gate for each head
  bool sinks = false;        // a learned sink for each head

  bool router_bias = false;  // a correction per expert, whatever topk_method says
  bool shared_gate = false;  // a gate for the shared expert
  // Lists of widths and of first layers are by modality; text's come first (ERNIE 4.5 VL).
  bool experts_by_modality = false;

  bool embedding_norm = false;
  // A learned position table of context + this many rows.
  std::optional<std::int64_t> extra_positions = std::nullopt;

  std::int64_t inner_divisor = 1;  // intermediate_size is this many times the real width
  std::int64_t global_every = 0;   // without a pattern key, every n-th layer looks at everything
  std::int64_t mtp_layers = 0;     // stored although no key says so

  // Keys that count where a configuration leaves them out, as YAML.
  std::string_view defaults = {};

  // Before all layers: corrects the widths.
  void (*widths)(Draft&) = nullptr;
  // Whole layer i (mixer and weights); null: decoder_layer.
  void (*layer)(Draft&, std::int64_t i, Layer&) = nullptr;
  // The mixer and weights of a multi-token-prediction layer; null: as the last layer.
  void (*mtp_layer)(Draft&, std::int64_t last, Layer&) = nullptr;
  // After all layers and ends: what is not a decoder layer.
  void (*finish)(Draft&) = nullptr;
};

// The family of a model_type, or nullptr.
const Family* find_family(std::string_view model_type);
// The model_type whose modelling class this is ("Qwen2MoeForCausalLM"); empty where it is unknown.
std::string_view type_of_class(std::string_view architecture);
std::span<const Family> plain_families();    // families_plain.cpp
std::span<const Family> special_families();  // families_special.cpp

}  // namespace kvplan::huggingface
