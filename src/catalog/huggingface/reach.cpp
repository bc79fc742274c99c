// SPDX-License-Identifier: Apache-2.0
// How far back each layer looks. A per-layer list beats every pattern key.
#include "catalog/huggingface/draft.h"

namespace kvplan::huggingface {
namespace {

constexpr std::string_view kPattern[] = {"sliding_window_pattern", "_sliding_window_pattern",
                                         "layer_switch"};
constexpr std::string_view kWindow[] = {"sliding_window", "sliding_window_size"};
constexpr std::string_view kChunk[] = {"attention_chunk_size"};

std::string listed_type(const Draft& d, std::int64_t i) {
  return d.keys.entry_text({"layer_types"}, i).value_or("");
}

Reach window(const Draft& d) {
  if (const auto size = d.keys.integer(kWindow, 1, Keys::kMostTokens)) return Window{Tokens(*size)};
  throw Error("layers slide but the window's size is absent").of("sliding_window");
}

Reach chunk(const Draft& d) {
  if (const auto size = d.keys.integer(kChunk, 1, Keys::kMostTokens)) return Chunk{Tokens(*size)};
  throw Error("layers are chunked but the chunk's size is absent").of("attention_chunk_size");
}

// "LLLG": L slides, G is global. A number n: every n-th layer is global.
bool slides_by_pattern(const Draft& d, std::int64_t i) {
  const Node* pattern = d.keys.find(kPattern);
  if (pattern && pattern->quoted) {
    const std::string word = d.keys.text(kPattern);
    if (word.find_first_not_of("LG") != word.npos || word.empty())
      d.keys.refuse(kPattern, "expected a word of the letters L and G");
    return word[static_cast<std::size_t>(i) % word.size()] == 'L';
  }
  const std::int64_t every = d.keys.integer(kPattern).value_or(d.family.global_every);
  return every > 0 && (i + 1) % every != 0;
}

// Qwen2 and its kin carry a window that is off unless asked for, and then for the layers from
// max_window_layers on.
bool window_is_off(const Draft& d, std::int64_t i) {
  const auto first = d.keys.integer({"max_window_layers"});
  if (!d.keys.has({"use_sliding_window"})) return false;
  return !d.keys.flag({"use_sliding_window"}) || i < first.value_or(0);
}

// Llama 4: layers without rotary embedding look at everything: those with 0 in the list, every
// `no_rope_layer_interval`-th where the list is empty.
bool lacks_rope(const Draft& d, std::int64_t i) {
  const std::int64_t every = d.keys.count_or({"no_rope_layer_interval", "nope_layer_interval"}, 4);
  const auto rope = d.keys.entry_integer({"no_rope_layers"}, i);
  return rope ? *rope == 0 : (i + 1) % every == 0;
}

}  // namespace

bool is_linear_layer(const Draft& d, std::int64_t i) {
  const auto every = d.keys.integer({"full_attention_interval"}, 1);
  const std::string type = listed_type(d, i);
  if (!type.empty()) return type == "linear_attention";
  return every && (i + 1) % *every != 0;
}

Reach reach_of(const Draft& d, std::int64_t i) {
  const std::string type = listed_type(d, i);
  d.keys.pass_over(kPattern);
  d.keys.pass_over(kWindow);
  d.keys.pass_over(
      {"max_window_layers", "use_sliding_window", "no_rope_layers", "no_rope_layer_interval"});
  if (type == "full_attention" || type == "attention" || type == "global_attention") return All{};
  if (type == "sliding_attention") return window(d);
  if (type == "chunked_attention") return chunk(d);
  if (!type.empty()) d.keys.refuse({"layer_types"}, "kv-plan does not know '" + type + "'");
  if (d.keys.has(kChunk)) return lacks_rope(d, i) ? Reach(All{}) : chunk(d);
  if (!d.keys.has(kWindow) || window_is_off(d, i)) return All{};
  if (d.keys.has(kPattern) || d.family.global_every > 0)
    return slides_by_pattern(d, i) ? window(d) : Reach(All{});
  return window(d);
}

}  // namespace kvplan::huggingface
