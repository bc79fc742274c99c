// SPDX-License-Identifier: Apache-2.0
// Models written by hand, so that tests of arithmetic need no reader. Widths are the published
// configurations' own.
#pragma once
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "model/format.h"
#include "model/spec.h"

namespace kvplan::shapes {

inline Weight matrix(std::string_view name, Role role, std::int64_t rows, std::int64_t columns,
                     Sharding sharding = Sharding::split) {
  Weight w;
  w.name = name;
  w.role = role;
  w.rows = rows;
  w.columns = columns;
  w.sharding = sharding;
  w.format = &format_named("bf16");
  return w;
}

inline Weight vector(std::string_view name, Role role, std::int64_t elements) {
  Weight w = matrix(name, role, elements, 1, Sharding::replicated);
  w.is_matrix = false;
  return w;
}

inline Weight experts(std::string_view name, std::int64_t copies, std::int64_t active,
                      std::int64_t rows, std::int64_t columns) {
  Weight w = matrix(name, Role::routed_expert, rows, columns);
  w.copies = copies;
  w.active = active;
  return w;
}

inline Weight table(std::int64_t vocabulary, std::int64_t hidden) {
  Weight w = matrix("embed_tokens", Role::embedding, vocabulary, hidden);
  w.is_matrix = false;
  return w;
}

struct Llama {
  std::int64_t layers = 32, hidden = 4096, heads = 32, kv_heads = 32, head_dim = 128, inter = 11008,
               vocabulary = 32000;
};

inline Mixer attention(std::int64_t heads, std::int64_t kv_heads, std::int64_t k_width,
                       std::int64_t v_width, Reach reach = All{}) {
  Mixer mixer;
  mixer.kind = Attention{heads, kv_heads, k_width, v_width, false, 0};
  mixer.reach = {reach};
  return mixer;
}

inline std::vector<Weight> attention_weights(const Mixer& mixer, std::int64_t hidden) {
  const auto& a = std::get<Attention>(mixer.kind);
  return {
      matrix("self_attn.q_proj", Role::attention, a.heads * a.k_width, hidden),
      matrix("self_attn.k_proj", Role::attention, a.kv_heads * a.k_width, hidden,
             Sharding::kv_heads),
      matrix("self_attn.v_proj", Role::attention, a.kv_heads * a.v_width, hidden,
             Sharding::kv_heads),
      matrix("self_attn.o_proj", Role::attention, hidden, a.heads * a.v_width),
  };
}

inline void append_mlp(std::vector<Weight>& weights, std::int64_t hidden, std::int64_t inter) {
  weights.push_back(matrix("mlp.gate_proj", Role::mlp, inter, hidden));
  weights.push_back(matrix("mlp.up_proj", Role::mlp, inter, hidden));
  weights.push_back(matrix("mlp.down_proj", Role::mlp, hidden, inter));
}

inline void append_norms(std::vector<Weight>& weights, std::int64_t hidden) {
  weights.push_back(vector("input_layernorm", Role::norm, hidden));
  weights.push_back(vector("post_attention_layernorm", Role::norm, hidden));
}

inline ModelSpec with_ends(std::int64_t hidden, std::int64_t vocabulary) {
  ModelSpec model;
  model.hidden = hidden;
  model.vocabulary = vocabulary;
  model.native = &format_named("bf16");
  model.ends = {table(vocabulary, hidden), vector("norm", Role::norm, hidden),
                matrix("lm_head", Role::head, vocabulary, hidden)};
  return model;
}

// LLaMA-7B by default (Touvron et al. 2023): 6,738,415,616 parameters.
inline ModelSpec llama(const Llama& s = {}) {
  ModelSpec model = with_ends(s.hidden, s.vocabulary);
  model.name = "llama";
  model.model_type = "llama";
  for (std::int64_t i = 0; i < s.layers; ++i) {
    Layer layer;
    layer.mixer = attention(s.heads, s.kv_heads, s.head_dim, s.head_dim);
    layer.weights = attention_weights(layer.mixer, s.hidden);
    append_mlp(layer.weights, s.hidden, s.inter);
    append_norms(layer.weights, s.hidden);
    model.layers.push_back(std::move(layer));
  }
  return model;
}

inline ModelSpec llama3_8b() { return llama({32, 4096, 32, 8, 128, 14336, 128256}); }
inline ModelSpec llama3_70b() { return llama({80, 8192, 64, 8, 128, 28672, 128256}); }

// DeepSeek-V3's layers (arXiv 2412.19437): MLA 512 + 64, 256 experts of which 8, first 3 dense.
inline ModelSpec deepseek_v3(std::int64_t layers = 61, std::int64_t dense = 3) {
  constexpr std::int64_t kHidden = 7168, kHeads = 128, kRank = 1536, kLatent = 512, kRope = 64,
                         kNope = 128, kInter = 2048;
  ModelSpec model = with_ends(kHidden, 129280);
  model.name = "deepseek-v3";
  for (std::int64_t i = 0; i < layers; ++i) {
    Layer layer;
    layer.mixer.kind = Latent{kHeads, kLatent, kRope, kNope, kNope};
    layer.mixer.reach = {All{}};
    auto& w = layer.weights;
    w = {matrix("self_attn.q_a_proj", Role::attention, kRank, kHidden, Sharding::replicated),
         matrix("self_attn.q_b_proj", Role::attention, kHeads * (kNope + kRope), kRank),
         matrix("self_attn.kv_a_proj_with_mqa", Role::attention, kLatent + kRope, kHidden,
                Sharding::replicated),
         matrix("self_attn.kv_b_proj", Role::attention, kHeads * 2 * kNope, kLatent),
         matrix("self_attn.o_proj", Role::attention, kHidden, kHeads * kNope),
         vector("self_attn.q_a_layernorm", Role::norm, kRank),
         vector("self_attn.kv_a_layernorm", Role::norm, kLatent)};
    append_norms(w, kHidden);
    if (i < dense) {
      append_mlp(w, kHidden, 18432);
    } else {
      w.push_back(matrix("mlp.gate", Role::router, 256, kHidden, Sharding::replicated));
      w.push_back(vector("mlp.gate.e_score_correction_bias", Role::router, 256));
      w.push_back(experts("mlp.experts.*.gate_proj", 256, 8, kInter, kHidden));
      w.push_back(experts("mlp.experts.*.up_proj", 256, 8, kInter, kHidden));
      w.push_back(experts("mlp.experts.*.down_proj", 256, 8, kHidden, kInter));
      w.push_back(matrix("mlp.shared_experts.gate_proj", Role::shared_expert, kInter, kHidden));
      w.push_back(matrix("mlp.shared_experts.up_proj", Role::shared_expert, kInter, kHidden));
      w.push_back(matrix("mlp.shared_experts.down_proj", Role::shared_expert, kHidden, kInter));
    }
    model.layers.push_back(std::move(layer));
  }
  return model;
}

// V3 with the lightning indexer of V3.2: 64 heads of 128, 2048 tokens chosen.
inline ModelSpec deepseek_v32() {
  ModelSpec model = deepseek_v3();
  for (Layer& layer : model.layers) layer.mixer.sparse = Sparse{64, 128, 1, 2048, 1, true};
  return model;
}

// gpt-oss-120b (arXiv 2508.10925): every other layer sees 128 tokens; 128 experts of which 4, in
// mxfp4.
inline ModelSpec gpt_oss_120b() {
  constexpr std::int64_t kHidden = 2880;
  ModelSpec model = with_ends(kHidden, 201088);
  model.name = "gpt-oss-120b";
  for (int i = 0; i < 36; ++i) {
    Layer layer;
    const Reach reach = i % 2 == 0 ? Reach(Window{Tokens(128)}) : Reach(All{});
    layer.mixer = attention(64, 8, 64, 64, reach);
    layer.weights = attention_weights(layer.mixer, kHidden);
    layer.weights.push_back(matrix("mlp.router", Role::router, 128, kHidden, Sharding::replicated));
    for (const std::int64_t rows : {2 * kHidden, kHidden}) {
      Weight w = experts("mlp.experts.*", 128, 4, rows, kHidden);
      w.format = &format_named("mxfp4");
      layer.weights.push_back(w);
    }
    append_norms(layer.weights, kHidden);
    model.layers.push_back(std::move(layer));
  }
  return model;
}

// The gated delta net of Qwen3.5-27B: 16 key and 48 value heads of 128, 4 taps, fp32 state.
inline Recurrent gated_delta_net(std::int64_t k_heads, std::int64_t v_heads) {
  return {
      Recurrent::gated_delta_net, k_heads, v_heads, 128, 128, 4, 2 * k_heads * 128 + v_heads * 128,
      &format_named("fp32")};
}

// Qwen3.5-27B's layers: every fourth attends (24 heads, 4 KV heads of 256, gated query), the rest
// are recurrent.
inline ModelSpec qwen35_27b() {
  constexpr std::int64_t kHidden = 5120, kInter = 17408;
  ModelSpec model = with_ends(kHidden, 248320);
  model.name = "qwen3.5-27b";
  for (int i = 0; i < 64; ++i) {
    Layer layer;
    if (i % 4 == 3) {
      layer.mixer = attention(24, 4, 256, 256);
      layer.weights = attention_weights(layer.mixer, kHidden);
      layer.weights[0].rows *= 2;
    } else {
      layer.mixer.kind = gated_delta_net(16, 48);
      layer.weights = {matrix("linear_attn.in_proj_qkv", Role::state, 10240, kHidden),
                       matrix("linear_attn.in_proj_z", Role::state, 6144, kHidden),
                       matrix("linear_attn.out_proj", Role::state, kHidden, 6144)};
    }
    append_mlp(layer.weights, kHidden, kInter);
    append_norms(layer.weights, kHidden);
    model.layers.push_back(std::move(layer));
  }
  return model;
}

}  // namespace kvplan::shapes
