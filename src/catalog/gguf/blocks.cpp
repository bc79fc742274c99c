// SPDX-License-Identifier: Apache-2.0
#include "catalog/gguf/metadata.h"

namespace kvplan::gguf {
namespace {

void set_heads(const Metadata& m, std::size_t i, Attention& a) {
  if (m.heads[i] % m.kv_heads[i] != 0)
    throw Error(std::to_string(m.heads[i]) + " attention heads of block " + std::to_string(i) +
                " are not a multiple of " + std::to_string(m.kv_heads[i]) + " KV heads")
        .of("attention.head_count_kv");
  const bool slides = !m.slides.empty() && m.slides[i];
  a.heads = m.heads[i];
  a.kv_heads = m.kv_heads[i];
  a.k_width = slides ? m.k_width_sliding : m.k_width;
  a.v_width = slides ? m.v_width_sliding : m.v_width;
  if (a.k_width == 0 || a.v_width == 0)
    throw Error("the width of a head is missing").of("attention.key_length");
}

Recurrent mamba2(const Metadata& m) {
  Recurrent r;
  r.kind = Recurrent::mamba2;
  r.v_heads = m.state.heads;
  r.v_width = m.state.inner / m.state.heads;
  r.k_heads = m.state.groups;
  r.k_width = m.state.size;
  r.taps = m.state.taps;
  r.conv_channels = checked_add(m.state.inner, checked_mul(2 * r.k_heads, r.k_width));
  r.state_format = &format_named("fp32");
  return r;
}

Recurrent rwkv(const Metadata& m) {
  Recurrent r;
  r.kind = Recurrent::rwkv;
  r.k_heads = r.v_heads = m.state.heads;
  r.k_width = r.v_width = m.state.size;
  r.taps = m.state.taps;
  r.conv_channels = m.hidden;
  r.state_format = &format_named("fp32");
  return r;
}

// PLaMo 2 convolves its inputs alone: it has no groups. No configuration says that.
std::optional<Recurrent> own_state(const Metadata& m, std::size_t i) {
  if (m.state_kind == Architecture::rwkv) return rwkv(m);
  if (m.state_kind == Architecture::mamba2 && m.state.groups == 0 && m.recurrent[i])
    return mamba2(m);
  return std::nullopt;
}

}  // namespace

void apply_block_values(const Metadata& m, ModelSpec& model) {
  for (std::size_t i = 0; i < model.layers.size() && i < m.heads.size(); ++i) {
    Mixer& mixer = model.layers[i].mixer;
    if (const auto state = own_state(m, i)) {
      mixer = Mixer{};
      mixer.kind = *state;
      continue;
    }
    auto* a = std::get_if<Attention>(&mixer.kind);
    if (!a || a->v_is_k) continue;
    if (m.kv_heads[i] == 0)  // feed-forward alone, or a product in place of attention
      mixer = Mixer{};
    else
      set_heads(m, i, *a);
    // Falcon-H1: a Mamba-2 mixer stands beside the attention of every layer.
    if (m.state_kind == Architecture::mamba2_beside) mixer.beside = mamba2(m);
  }
}

}  // namespace kvplan::gguf
