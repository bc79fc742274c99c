// SPDX-License-Identifier: Apache-2.0
// A model while it is being read: its keys, its family, the widths that every reader needs, and
// the readers by subject.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/huggingface/family.h"
#include "catalog/huggingface/keys.h"
#include "model/spec.h"

namespace kvplan::huggingface {

struct Experts {
  std::int64_t count = 0, active = 0, width = 0;
};

struct Draft {
  Keys top;   // the whole file's outermost keys
  Keys keys;  // the text model's (the same ones in most configurations)
  const Family& family;
  ModelSpec& model;

  std::int64_t hidden = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0, vocabulary = 0;
  std::int64_t inner = 0;  // dense feed-forward width; 0 where every layer has experts only
  std::optional<Experts> experts = std::nullopt;

  void warn(std::string code, std::string message) {
    model.warnings.push_back({std::move(code), std::move(message)});
  }
};

// ---- building blocks: weights.cpp

using Weights = std::vector<Weight>;
void add_matrix(Weights&, std::string_view name, Role, std::int64_t rows, std::int64_t columns,
                Sharding = Sharding::split);
void add_vector(Weights&, std::string_view name, Role, std::int64_t elements,
                Sharding = Sharding::replicated);
// A table of which a step reads one row per token.
void add_table(Weights&, std::string_view name, std::int64_t rows, std::int64_t columns,
               Sharding = Sharding::split);
// A normalisation over `width` numbers, with a bias where the family's norm has one.
void add_norm(const Draft&, Weights&, std::string_view name, std::int64_t width);
// A layer's norms over the hidden width, as many as the family has.
void add_layer_norms(const Draft&, Layer&);
// gate, up and down of one feed-forward of rows of `width` (up and down where the family is not
// gated), with its biases.
void add_feed_forward(const Draft&, Weights&, Role, std::int64_t inner, std::int64_t width);
std::int64_t product(std::int64_t a, std::int64_t b, std::int64_t c = 1);  // checked

// ---- readers by subject

void read_widths(Draft&);   // widths.cpp
void read_experts(Draft&);  // experts.cpp
void read_mtp(Draft&);      // mtp.cpp
void read_vision(Draft&);   // vision.cpp
// quantisation.cpp; `beside` is hf_quant_config.json or null
void read_formats(Draft&, const Node* beside);
// unread.cpp: warns of keys that nobody read, or refuses the model
void account_for_unread_keys(Draft&);
// unread.cpp: the outermost map without keys that are known to change nothing
Node keys_that_count(const Draft&);

Reach reach_of(const Draft&, std::int64_t i);             // reach.cpp
bool is_linear_layer(const Draft&, std::int64_t i);       // reach.cpp
void decoder_layer(Draft&, std::int64_t i, Layer&);       // decoder.cpp
void add_attention(Draft&, std::int64_t i, Layer&);       // attention.cpp: latent or heads
void add_heads(Draft&, Layer&, const Attention&, Reach);  // attention.cpp
Attention attention_shape(const Draft&);                  // attention.cpp
// attention.cpp: keys that count in layer i alone
std::optional<Keys> own_keys(const Draft&, std::int64_t i);
void add_latent_attention(Draft&, std::int64_t i, Layer&);  // latent.cpp
void add_experts_or_mlp(Draft&, std::int64_t i, Layer&);    // experts.cpp
void add_experts(Draft&, Layer&, const Experts&);           // experts.cpp
void add_mlp(Draft&, std::int64_t i, Layer&);               // experts.cpp
// state.cpp
void add_gated_delta_net(Draft&, Layer&);
// With whole products for both gates where `full_rank`.
void add_kda(Draft&, Layer&, bool full_rank = false);
// deepseek_v4.cpp: `hc_mult` residual streams, mixed
void add_hyper_connection(Draft&, Weights&, std::string_view name);
Recurrent add_mamba2(Draft&, Layer&);
Recurrent add_mamba1(Draft&, Layer&, std::int64_t inner);
std::int64_t time_step_rank(const Draft&);  // of Mamba
void add_short_conv(Draft&, Layer&);

}  // namespace kvplan::huggingface
