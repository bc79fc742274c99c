// SPDX-License-Identifier: Apache-2.0
// src/llama-kv-cache.cpp and src/llama-memory-recurrent.cpp of ggml-org/llama.cpp.
#include "engine/llamacpp/memory.h"

#include <algorithm>

namespace kvplan::llamacpp {
namespace {

constexpr std::int64_t kStateBytes = 4;  // states are fp32 whatever the cache's format

// One row per cell, of all heads together.
Bytes row(const Format& format, std::int64_t width) { return payload_bytes(format, 1, width); }

std::int64_t value_width(const Layer& layer) {
  const auto* a = std::get_if<Attention>(&layer.mixer.kind);
  return a && !layer.mixer.shares_cache_of ? checked_mul(a->kv_heads, a->v_width) : 0;
}

// Without flash attention values are stored transposed, every layer as wide as the widest.
std::int64_t widest_value(const ModelSpec& model) {
  std::int64_t widest = 0;
  for (const Layer& layer : model.layers) widest = std::max(widest, value_width(layer));
  return widest;
}

Bytes latent_row(const Latent& l, const CacheFormats& f, LatentCache stored) {
  if (stored == LatentCache::as_heads)
    return row(*f.key, checked_mul(l.heads, l.nope + l.rope)) +
           row(*f.value, checked_mul(l.heads, l.v_width));
  const Bytes key = row(*f.key, l.latent + l.rope);
  return stored == LatentCache::alone ? key : key + row(*f.value, l.latent);
}

Bytes state_row(const Recurrent& r) {
  if (r.kind == Recurrent::compressor)
    throw Error("how llama.cpp keeps compressed caches is not known").of("--engine");
  const std::int64_t kept = std::max<std::int64_t>(r.taps - 1, 0);
  std::int64_t numbers = checked_mul(kept, r.conv_channels);
  if (r.kind != Recurrent::short_conv)
    numbers = checked_add(numbers, checked_mul(checked_mul(r.v_heads, r.k_width), r.v_width));
  return Bytes(checked_mul(numbers, kStateBytes));
}

class Dealer {
 public:
  Dealer(const ModelSpec& model, const CacheFormats& cache, const Serving& serving)
      : cache_(cache), serving_(serving), widest_(widest_value(model)) {}

  void add(Device& device, const Layer& layer) const {
    const Mixer& mixer = layer.mixer;
    const CacheFormats& f = layer.role == Layer::mtp ? serving_.draft : cache_;
    if (const auto* r = std::get_if<Recurrent>(&mixer.kind)) device.per_state += state_row(*r);
    if (mixer.beside) device.per_state += state_row(*mixer.beside);
    if (mixer.shares_cache_of || !mixer.causal) return;
    for (const Reach& reach : mixer.reach) add_cells(device, reach, cell_bytes(mixer, f));
    if (mixer.sparse && mixer.sparse->owns_keys)
      device.per_cell += row(*f.key, checked_mul(mixer.sparse->key_heads, mixer.sparse->width));
  }

 private:
  Bytes cell_bytes(const Mixer& mixer, const CacheFormats& f) const {
    if (const auto* l = std::get_if<Latent>(&mixer.kind)) return latent_row(*l, f, serving_.latent);
    const auto* a = std::get_if<Attention>(&mixer.kind);
    if (!a) return Bytes(0);
    if (a->v_is_k) throw Error("how llama.cpp keeps shared rows is not known").of("--engine");
    const std::int64_t v = serving_.flash ? checked_mul(a->kv_heads, a->v_width) : widest_;
    return row(*f.key, checked_mul(a->kv_heads, a->k_width)) + row(*f.value, v);
  }

  static void add_cells(Device& device, const Reach& reach, Bytes bytes) {
    if (std::holds_alternative<All>(reach)) {
      device.per_cell += bytes;
      return;
    }
    Tokens size;
    if (const auto* w = std::get_if<Window>(&reach))
      size = w->size;
    else if (const auto* c = std::get_if<Chunk>(&reach))
      size = c->size;
    else
      throw Error("how llama.cpp keeps caches of compressed or encoder tokens is not known")
          .of("--engine");
    for (auto& [window, sum] : device.per_window_cell)
      if (window == size) return void(sum += bytes);
    device.per_window_cell.emplace_back(size, bytes);
  }

  const CacheFormats& cache_;
  const Serving& serving_;
  std::int64_t widest_;
};

Bytes held(const std::vector<Weight>& weights) {
  Bytes sum;
  for (const Weight& w : weights) sum += stored_bytes(*w.format, w.rows, w.columns) * w.copies;
  return sum;
}

// Norm and head; a tied token table serves as the head.
Bytes output_bytes(const ModelSpec& model) {
  Bytes sum;
  for (const Weight& w : model.ends)
    if (w.role != Role::embedding || model.tied_head)
      sum += stored_bytes(*w.format, w.rows, w.columns) * w.copies;
  return sum;
}

}  // namespace

std::vector<Device> devices_of(const ModelSpec& model, const CacheFormats& cache,
                               const Serving& serving, std::int64_t devices) {
  std::vector<Device> all(static_cast<std::size_t>(devices));
  const Dealer dealer(model, cache, serving);
  const auto layers = static_cast<std::int64_t>(main_layers(model).size());
  std::int64_t seen = 0;
  for (const Layer& layer : model.layers) {
    if (layer.role == Layer::mtp && !serving.drafts_with_mtp) continue;
    const std::int64_t at = checked_mul(std::min(seen, layers), devices) / (layers + 1);
    Device& device = all[static_cast<std::size_t>(at)];
    dealer.add(device, layer);
    device.weights += held(layer.weights);
    seen += layer.role == Layer::main;
  }
  all.back().weights += output_bytes(model);
  all.front().weights += held(model.vision);
  return all;
}

Bytes cache_bytes(const Device& device, const Serving& serving, const Cells& cells) {
  Bytes sum = device.per_cell * cells.cells * cells.streams;
  for (const auto& [window, bytes] : device.per_window_cell)
    sum += bytes * window_cells(serving, cells, window) * cells.streams;
  return sum + device.per_state * checked_mul(cells.sequences, 1 + serving.rollback);
}

}  // namespace kvplan::llamacpp
