// SPDX-License-Identifier: Apache-2.0
// src/llama-kv-cache.cpp, src/llama-memory-recurrent.cpp and src/models/t5.cpp of
// ggml-org/llama.cpp.
#include "engine/llamacpp/memory.h"

#include <algorithm>

#include "engine/llamacpp/placement.h"

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

// What a compressor has of the tokens of its next entry: rows and their weights, in fp32. That of
// every fourth token makes two overlapping series (src/llama-kv-cache-dsv4.cpp).
Bytes compressor_row(std::int64_t ratio, std::int64_t width) {
  constexpr std::int64_t kOverlapping = 4;
  const std::int64_t series = ratio == kOverlapping ? 2 : 1;
  return Bytes(
      checked_mul(checked_mul(2 * series * ratio, checked_mul(series, width)), kStateBytes));
}

std::int64_t entry_width(const Mixer& mixer) {
  if (const auto* a = std::get_if<Attention>(&mixer.kind)) return a->k_width;
  const auto* l = std::get_if<Latent>(&mixer.kind);
  return l ? checked_add(l->latent, l->rope) : 0;
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
    if (mixer.shares_cache_of || !mixer.causal || !serving_.caches) return;
    for (const Reach& reach : mixer.reach) {
      add_cells(device, reach, cell_bytes(mixer, f));
      if (const auto* c = std::get_if<Compressed>(&reach))
        device.per_state += compressor_row(c->ratio, entry_width(mixer));
    }
    if (mixer.sparse && mixer.sparse->owns_keys) add_index(device, *mixer.sparse, f);
  }

 private:
  Bytes cell_bytes(const Mixer& mixer, const CacheFormats& f) const {
    if (const auto* l = std::get_if<Latent>(&mixer.kind)) return latent_row(*l, f, serving_.latent);
    const auto* a = std::get_if<Attention>(&mixer.kind);
    if (!a) return Bytes(0);
    if (a->v_is_k) return row(*f.key, checked_mul(a->kv_heads, a->k_width));
    const std::int64_t v = serving_.flash ? checked_mul(a->kv_heads, a->v_width) : widest_;
    return row(*f.key, checked_mul(a->kv_heads, a->k_width)) + row(*f.value, v);
  }

  static void add_index(Device& device, const Sparse& s, const CacheFormats& f) {
    const Bytes key = row(*f.key, checked_mul(s.key_heads, s.width));
    if (s.ratio == 1) return void(device.per_cell += key);
    add_entries(device, s.ratio, key);
    device.per_state += compressor_row(s.ratio, s.width);
  }

  static void add_entries(Device& device, std::int64_t ratio, Bytes bytes) {
    for (auto& [tokens, sum] : device.per_entry)
      if (tokens == ratio) return void(sum += bytes);
    device.per_entry.emplace_back(ratio, bytes);
  }

  static void add_cells(Device& device, const Reach& reach, Bytes bytes) {
    if (std::holds_alternative<All>(reach)) {
      device.per_cell += bytes;
      return;
    }
    if (const auto* c = std::get_if<Compressed>(&reach))
      return add_entries(device, c->ratio, bytes);
    Tokens size;
    if (const auto* w = std::get_if<Window>(&reach))
      size = w->size;
    else if (const auto* c = std::get_if<Chunk>(&reach))
      size = c->size;
    else
      return;  // T5: every step makes the keys and values of the encoder's output anew
    for (auto& [window, sum] : device.per_window_cell)
      if (window == size) return void(sum += bytes);
    device.per_window_cell.emplace_back(size, bytes);
  }

  const CacheFormats& cache_;
  const Serving& serving_;
  std::int64_t widest_;
};

// Whether each size of `less` is there in `more` too, with at least as many bytes.
template <class Size>
bool covers(const std::vector<std::pair<Size, Bytes>>& more,
            const std::vector<std::pair<Size, Bytes>>& less) {
  return std::all_of(less.begin(), less.end(), [&](const auto& one) {
    return std::any_of(more.begin(), more.end(), [&](const auto& other) {
      return other.first == one.first && other.second >= one.second;
    });
  });
}

bool outdoes(const Device& a, const Device& b) {
  return a.per_cell >= b.per_cell && a.per_state >= b.per_state &&
         covers(a.per_window_cell, b.per_window_cell) && covers(a.per_entry, b.per_entry);
}

}  // namespace

// convert_hf_to_gguf.py of ggml-org/llama.cpp.
Bytes held(const Weight& w) {
  const bool small = w.role == Role::router || (!w.is_matrix && w.role != Role::embedding);
  const Format& format = small && w.format->bits == 16 ? format_named("fp32") : *w.format;
  return stored_bytes(format, w.rows, w.columns) * w.copies;
}

std::vector<Device> parts_of(const ModelSpec& model, const CacheFormats& cache,
                             const Serving& serving, const Assignment& where) {
  std::vector<Device> all(where.parts);
  const Dealer dealer(model, cache, serving);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    if (where.unloaded[i]) continue;
    const Layer& layer = model.layers[i];
    dealer.add(all[where.caches[i]], layer);
    for (std::size_t k = 0; k < layer.weights.size(); ++k)
      all[where.weights[i][k]].weights += held(layer.weights[k]);
  }
  bool tied = model.tied_head;
  for (const Weight& w : model.ends) {
    const bool table = w.role == Role::embedding;
    all[table ? where.table : where.output].weights += held(w);
    // The first table, if tied, serves as the head from a copy where the output is elsewhere.
    if (table && tied && where.table != where.output) all[where.output].weights += held(w);
    tied = tied && !table;
  }
  for (const Weight& w : model.vision) all[where.vision].weights += held(w);
  return all;
}

std::vector<Device> devices_of(const ModelSpec& model, const CacheFormats& cache,
                               const Serving& serving, std::int64_t devices) {
  Split split;
  split.gpu_layers = countable_layers(model);
  auto all = parts_of(
      model, cache, serving,
      assignment_of(model, split, static_cast<std::size_t>(devices), serving.drafts_with_mtp));
  all.pop_back();  // the host
  return all;
}

std::vector<Device> not_outdone(const std::vector<Device>& all) {
  std::vector<Device> kept;
  for (const Device& device : all) {
    const auto outdone = [&](const Device& other) { return outdoes(other, device); };
    if (std::any_of(kept.begin(), kept.end(), outdone)) continue;
    std::erase_if(kept, [&](const Device& other) { return outdoes(device, other); });
    kept.push_back(device);
  }
  return kept;
}

Bytes held_by_host(const ModelSpec& model, const CacheFormats& cache, const Serving& serving) {
  const Assignment all_on_host = assignment_of(model, Split{}, 0, serving.drafts_with_mtp);
  return parts_of(model, cache, serving, all_on_host).back().weights;
}

Bytes cache_bytes(const Device& device, const Serving& serving, const Cells& cells) {
  constexpr std::int64_t kEntries = 256;  // entries are allotted by so many
  Bytes sum = device.per_cell * cells.cells * cells.streams;
  for (const auto& [window, bytes] : device.per_window_cell)
    sum += bytes * window_cells(serving, cells, window) * cells.streams;
  for (const auto& [ratio, bytes] : device.per_entry)
    sum += bytes * round_up(ceil_div(cells.cells, ratio), kEntries) * cells.streams;
  return sum + device.per_state * checked_mul(cells.sequences, 1 + serving.rollback);
}

}  // namespace kvplan::llamacpp
