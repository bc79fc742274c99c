// SPDX-License-Identifier: Apache-2.0
// Models made of the widths that start-up logs print, and nothing else.
#pragma once
#include <cstdint>

#include "cost/deployment.h"
#include "model/spec.h"

namespace kvplan::test {

inline CacheFormats cached_as(std::string_view key, std::string_view value) {
  CacheFormats f;
  f.name = key;
  f.key = f.latent = f.rope = f.index = &format_named(key);
  f.value = &format_named(value);
  f.conv = &format_named("bf16");
  return f;
}

inline Deployment on_gpus(std::int64_t tp, std::string_view format = "bf16") {
  Deployment d;
  d.parallel.tp = tp;
  d.cache = cached_as(format, format);
  return d;
}

inline Layer attention(std::int64_t kv_heads, std::int64_t width, Reach reach = All{}) {
  Layer layer;
  layer.mixer.kind = Attention{kv_heads * 2, kv_heads, width, width};
  layer.mixer.reach = {reach};
  return layer;
}

inline Layer latent(std::int64_t heads = 128) {
  Layer layer;
  layer.mixer.kind = Latent{heads, 512, 64, 128, 128};
  layer.mixer.reach = {All{}};
  return layer;
}

inline Layer gated_delta_net(std::int64_t v_heads) {  // 16 key heads, all of width 128
  Recurrent r;
  r.kind = Recurrent::gated_delta_net;
  r.k_heads = 16;
  r.v_heads = v_heads;
  r.k_width = r.v_width = 128;
  r.taps = 4;
  r.conv_channels = 2 * 16 * 128 + v_heads * 128;
  r.state_format = &format_named("fp32");
  Layer layer;
  layer.mixer.kind = r;
  return layer;
}

struct Run {
  int times;
  Layer layer;
};
inline ModelSpec model_of(std::initializer_list<Run> runs) {
  ModelSpec model;
  model.hidden = 4096;
  model.vocabulary = 32000;
  model.max_context = Tokens(131072);
  model.native = &format_named("bf16");
  for (const Run& run : runs) model.layers.insert(model.layers.end(), run.times, run.layer);
  return model;
}

}  // namespace kvplan::test
