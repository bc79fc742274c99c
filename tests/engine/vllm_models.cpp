// SPDX-License-Identifier: Apache-2.0
#include "engine/vllm_models.h"

#include <functional>
#include <map>
#include <string>

namespace kvplan::test {
namespace {

ModelSpec empty_model(std::int64_t hidden, std::int64_t context) {
  ModelSpec m;
  m.hidden = hidden;
  m.vocabulary = 32000;
  m.max_context = Tokens(context);
  m.native = &format_named("bf16");
  return m;
}

Layer recurrent_layer(const Recurrent& r) {
  Layer l;
  l.mixer.kind = r;
  return l;
}

Recurrent delta_net(std::int64_t v_heads) {  // 16 key heads, all of width 128, fp32 state
  Recurrent r;
  r.kind = Recurrent::gated_delta_net;
  r.k_heads = 16;
  r.v_heads = v_heads;
  r.k_width = r.v_width = 128;
  r.taps = 4;
  r.conv_channels = 2 * 16 * 128 + v_heads * 128;
  r.state_format = &format_named("fp32");
  return r;
}

// Every fourth layer is full attention with heads of 256, the others are gated delta nets.
ModelSpec delta_hybrid(int layers, std::int64_t kv_heads, std::int64_t v_heads,
                       std::int64_t hidden) {
  ModelSpec m = empty_model(hidden, 262144);
  for (int i = 1; i <= layers; ++i)
    add(m, i % 4 == 0 ? attention_layer(kv_heads, 256, 256) : recurrent_layer(delta_net(v_heads)));
  return m;
}

ModelSpec qwen_27b() { return delta_hybrid(64, 4, 48, 5120); }
ModelSpec qwen_35b() { return delta_hybrid(40, 2, 32, 2048); }
ModelSpec qwen_122b() { return delta_hybrid(48, 2, 64, 3072); }

ModelSpec kimi_linear() {
  Recurrent r;
  r.kind = Recurrent::kda;
  r.k_heads = r.v_heads = 32;
  r.k_width = r.v_width = 128;
  r.taps = 4;
  r.conv_channels = 3 * 32 * 128;
  ModelSpec m = empty_model(2304, 1048576);
  for (int i = 1; i <= 27; ++i)
    add(m, i % 4 == 0 || i == 27 ? latent_layer(32) : recurrent_layer(r));
  return m;
}

ModelSpec lfm() {  // LFM2.5-1.2B
  Recurrent r;
  r.kind = Recurrent::short_conv;
  r.taps = 3;
  r.conv_channels = 2048;
  ModelSpec m = empty_model(2048, 128000);
  add(m, recurrent_layer(r), 10);
  add(m, attention_layer(8, 64, 64), 6);
  return m;
}

ModelSpec nemotron_30b() {  // 64 heads of 64, 8 groups, state 128; layers without a mixer left out
  Recurrent r;
  r.kind = Recurrent::mamba2;
  r.k_heads = 8;
  r.v_heads = 64;
  r.k_width = 128;
  r.v_width = 64;
  r.taps = 4;
  r.conv_channels = 64 * 64 + 2 * 8 * 128;
  r.state_format = &format_named("fp32");
  ModelSpec m = empty_model(2688, 262144);
  add(m, recurrent_layer(r), 23);
  add(m, attention_layer(2, 128, 128), 6);
  return m;
}

ModelSpec granite_350m() {  // 48 heads of 32, one group, state 128, in the model's own 16 bits
  Recurrent r;
  r.kind = Recurrent::mamba2;
  r.k_heads = 1;
  r.v_heads = 48;
  r.k_width = 128;
  r.v_width = 32;
  r.taps = 4;
  r.conv_channels = 48 * 32 + 2 * 128;
  ModelSpec m = empty_model(768, 32768);
  add(m, recurrent_layer(r), 28);
  add(m, attention_layer(4, 64, 64), 4);
  return m;
}

ModelSpec qwen_next() {  // its configuration asks no format for states
  ModelSpec m = delta_hybrid(48, 2, 32, 2048);
  for (Layer& l : m.layers)
    if (auto* r = std::get_if<Recurrent>(&l.mixer.kind)) r->state_format = nullptr;
  return m;
}

ModelSpec exaone_32b() {
  ModelSpec m = empty_model(5120, 131072);
  for (int i = 0; i < 16; ++i) {
    add(m, attention_layer(8, 128, 128, Window{Tokens(4096)}), 3);
    add(m, attention_layer(8, 128, 128));
  }
  return m;
}

ModelSpec whisper() {
  ModelSpec m = empty_model(1280, 448);
  add(m, attention_layer(20, 64, 64), 32);
  add(m, attention_layer(20, 64, 64, Source{}), 32);
  return m;
}

ModelSpec kimi_k2() {
  ModelSpec m = empty_model(7168, 131072);
  add(m, latent_layer(64), 61);
  return m;
}

// 43 windows of 128; from the third layer on ratios 4 and 128 in turn.
ModelSpec v4_flash() {
  ModelSpec m = empty_model(4096, 1048576);
  for (int i = 0; i < 43; ++i) {
    Attention a{64, 1, 512, 512};
    a.v_is_k = true;
    a.rope_width = 64;
    Layer l;
    l.mixer.kind = a;
    l.mixer.reach = {Window{Tokens(128)}};
    if (i >= 2) l.mixer.reach.push_back(Compressed{i % 2 == 0 ? 4 : 128});
    if (i >= 2 && i % 2 == 0) l.mixer.sparse = Sparse{64, 128, 1, 512, 4, true};
    m.layers.push_back(l);
  }
  return m;
}

Layer own_draft(std::int64_t kv_heads) { return attention_layer(kv_heads, 256, 256); }

const std::map<std::string_view, std::function<ModelSpec()>> kShapes = {
    {"qwen-27b", qwen_27b},
    {"qwen-27b-mtp", [] { return with_draft(qwen_27b(), own_draft(4), 1); }},
    {"qwen-0.8b", [] { return delta_hybrid(24, 2, 16, 1024); }},
    {"qwen-122b", qwen_122b},
    {"qwen-122b-mtp", [] { return with_draft(qwen_122b(), own_draft(2), 1); }},
    {"qwen-35b", qwen_35b},
    {"qwen-next", qwen_next},
    {"granite-350m", granite_350m},
    {"exaone-32b", exaone_32b},
    {"whisper", whisper},
    {"kimi-linear", kimi_linear},
    {"lfm", lfm},
    {"nemotron-30b", nemotron_30b},
    {"gemma4-12b", [] { return gemma4(8, 8, 1); }},
    {"gemma4-26b", [] { return gemma4(5, 8, 2); }},
    {"layers-92",
     [] {  // states in the model's own 16 bits
       ModelSpec m = delta_hybrid(92, 4, 128, 6144);
       for (Layer& l : m.layers)
         if (auto* r = std::get_if<Recurrent>(&l.mixer.kind)) r->state_format = nullptr;
       return m;
     }},
    {"gemma4-31b", [] { return gemma4(10, 16, 4); }},
    {"kimi-k2", kimi_k2},
    {"v4-flash", v4_flash},
    {"llama-8b", [] { return dense(32, 8, 128); }},
    {"llama-70b", [] { return dense(80, 8, 128); }},
    {"llama-2-7b", [] { return dense(32, 32, 128); }},
    {"layers-36", [] { return dense(36, 8, 128); }},
    {"pixtral-12b", [] { return dense(40, 8, 128); }},
    {"qwen3-14b", [] { return dense(40, 8, 128); }},
    {"qwen3-1.7b", [] { return dense(28, 8, 128); }},
    {"phi-4", [] { return dense(40, 10, 128); }},
    {"qwen2.5-0.5b", [] { return dense(24, 2, 64); }},
    {"qwen2.5-1.5b", [] { return dense(28, 2, 128); }},
    {"qwen2.5-3b", [] { return dense(36, 2, 128); }},
    {"qwen2-7b", [] { return dense(28, 4, 128); }},
    {"minimax-m2.5", [] { return dense(62, 8, 128); }},
    {"qwen3-30b", [] { return dense(48, 4, 128); }},
    {"qwen3-235b", [] { return dense(94, 4, 128); }},
    {"opt-125m", [] { return dense(12, 12, 64); }},
    {"phi-3-vision", [] { return dense(32, 32, 96); }},
};

}  // namespace

Layer attention_layer(std::int64_t kv_heads, std::int64_t k_width, std::int64_t v_width,
                      Reach reach) {
  Layer l;
  l.mixer.kind = Attention{kv_heads, kv_heads, k_width, v_width};
  l.mixer.reach = {reach};
  return l;
}

Layer latent_layer(std::int64_t heads) {
  Layer l;
  l.mixer.kind = Latent{heads, 512, 64, 128, 128};
  l.mixer.reach = {All{}};
  return l;
}

void add(ModelSpec& m, const Layer& layer, int times) {
  for (int i = 0; i < times; ++i) m.layers.push_back(layer);
}

ModelSpec with_draft(ModelSpec m, const Layer& layer, int layers) {
  for (int i = 0; i < layers; ++i) {
    m.layers.push_back(layer);
    m.layers.back().role = Layer::mtp;
  }
  return m;
}

ModelSpec dense(int layers, std::int64_t kv_heads, std::int64_t width) {
  ModelSpec m = empty_model(4096, 131072);
  add(m, attention_layer(kv_heads, width, width), layers);
  return m;
}

ModelSpec gemma4(int blocks, std::int64_t kv_heads, std::int64_t global_kv_heads) {
  ModelSpec m = empty_model(3840, 262144);
  for (int i = 0; i < blocks; ++i) {
    add(m, attention_layer(kv_heads, 256, 256, Window{Tokens(1024)}), 5);
    add(m, attention_layer(global_kv_heads, 512, 512));
  }
  return m;
}

ModelSpec shape_named(std::string_view name) {
  const auto found = kShapes.find(name);
  if (found == kShapes.end()) throw Error("no shape '" + std::string(name) + "'");
  return found->second();
}

}  // namespace kvplan::test
