// SPDX-License-Identifier: Apache-2.0
// How far back each layer looks. A per-layer list beats every pattern key.
#include <algorithm>

#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

Reach window(std::int64_t size) { return Window{Tokens(size)}; }

// The layer's own word for its type, from `layer_types` or a list of the same kind.
std::string listed_type(const Draft& d, std::int64_t layer) {
  const auto types = d.keys.texts({"layer_types"});
  if (types.empty()) return {};
  if (static_cast<std::int64_t>(types.size()) < d.layers)
    throw Error("layer_types has fewer entries than there are layers").of("layer_types");
  return types[static_cast<std::size_t>(layer)];
}

// "LLLG": L slides, G is global. A number n: every n-th layer is global.
bool slides_by_pattern(const Draft& d, std::int64_t layer) {
  const Node* pattern = d.keys.find({"sliding_window_pattern", "_sliding_window_pattern"});
  const std::string_view type = d.family.model_type;
  if (pattern && pattern->quoted) {
    const std::string& word = pattern->text;
    return !word.empty() && word[static_cast<std::size_t>(layer) % word.size()] == 'L';
  }
  std::int64_t every = 0;
  if (pattern) every = pattern->integer().value_or(0);
  if (every == 0 && type == "gemma2") return layer % 2 == 0;
  if (every == 0 && type.starts_with("gemma3")) every = 6;
  if (every == 0 && type == "cohere2") every = 4;
  return every > 0 && (layer + 1) % every != 0;
}

bool has_pattern(const Draft& d) {
  const std::string_view type = d.family.model_type;
  return d.keys.has({"sliding_window_pattern", "_sliding_window_pattern"}) || type == "gemma2" ||
         type.starts_with("gemma3") || type == "cohere2";
}

// Llama 4: layers without rotary embedding (0 in the list; every fourth when the list is empty)
// look at everything.
Reach chunked(const Draft& d, std::int64_t layer, std::int64_t size) {
  const auto rope = d.keys.integers({"no_rope_layers"});
  const bool everywhere =
      rope.empty() ? (layer + 1) % 4 == 0 : rope.at(static_cast<std::size_t>(layer)) == 0;
  if (everywhere) return All{};
  return Chunk{Tokens(size)};
}

}  // namespace

bool is_linear_layer(const Draft& d, std::int64_t layer) {
  const std::string type = listed_type(d, layer);
  if (!type.empty()) return type == "linear_attention";
  const auto every = d.keys.integer({"full_attention_interval"}, 1);
  return every && (layer + 1) % *every != 0;
}

Reach reach_of(const Draft& d, std::int64_t layer) {
  const auto size = d.keys.integer({"sliding_window", "sliding_window_size"}, 1);
  const std::string type = listed_type(d, layer);
  const auto chunk = d.keys.integer({"attention_chunk_size"}, 1);
  const bool llama4 = d.family.model_type.starts_with("llama4");
  if (type == "full_attention") return All{};
  if (type == "sliding_attention") {
    if (!size)
      throw Error("layer_types names sliding layers but sliding_window is absent")
          .of("sliding_window");
    return window(*size);
  }
  if (type == "chunked_attention" || (llama4 && chunk && type.empty())) {
    if (!chunk)
      throw Error("layer_types names chunked layers but attention_chunk_size is absent")
          .of("attention_chunk_size");
    return type.empty() ? chunked(d, layer, *chunk) : Reach(Chunk{Tokens(*chunk)});
  }
  if (!size) return All{};
  if (has_pattern(d)) return slides_by_pattern(d, layer) ? window(*size) : Reach(All{});
  // Qwen2 and its kin carry a window that is off unless asked for, and then for the layers from
  // max_window_layers on.
  if (d.keys.has({"use_sliding_window"})) {
    if (!d.keys.flag({"use_sliding_window"})) return All{};
    return layer >= d.keys.integer({"max_window_layers"}).value_or(0) ? window(*size)
                                                                      : Reach(All{});
  }
  return window(*size);
}

}  // namespace kvplan::huggingface
