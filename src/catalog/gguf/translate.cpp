// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "catalog/gguf/metadata.h"

namespace kvplan::gguf {
namespace {

struct Keys {
  Node node = map();

  void put(std::string_view key, Node value) { kvplan::put(node, key, std::move(value)); }
  void put(std::string_view key, std::int64_t value) { put(key, whole_number(value)); }
  void put(std::string_view key, std::string_view text) { put(key, word(text)); }
  template <class T>
  void put(std::string_view key, const std::vector<T>& values) {
    Node all = list();
    for (const T& value : values) {
      if constexpr (std::is_integral_v<T>)
        all.items.push_back(whole_number(value));
      else
        all.items.push_back(word(value));
    }
    put(key, std::move(all));
  }
};

using Words = std::vector<std::string_view>;

// Where heads differ, the first block that has any stands for all: apply_block_values() knows
// better later. A model without attention still needs numbers here.
void put_heads(const Metadata& m, Keys& out) {
  std::int64_t heads = 1, kv_heads = 1;
  for (std::size_t i = 0; i < m.heads.size(); ++i)
    if (m.heads[i] > 0 && m.kv_heads[i] > 0) {
      heads = m.heads[i], kv_heads = m.kv_heads[i];
      break;
    }
  out.put("num_hidden_layers", m.mains());
  if (m.encoders > 0) out.put("num_layers", m.encoders);
  out.put("num_attention_heads", heads);
  out.put("num_key_value_heads", heads % kv_heads == 0 ? kv_heads : heads);
  out.put("head_dim", std::max<std::int64_t>(m.k_width_sliding, 1));
  if (m.reads_as == "gemma4") out.put("global_head_dim", std::max<std::int64_t>(m.k_width, 1));
  // Mamba's configuration calls its inner channels so; its files have 0 there.
  out.put("intermediate_size", m.reads_as == "mamba"
                                   ? m.state.inner
                                   : *std::max_element(m.inner.begin(), m.inner.end()));
  out.put("vocab_size", m.vocabulary);
}

void put_latent(const Metadata& m, Keys& out) {
  if (!m.latent) return;
  out.put("qk_rope_head_dim", m.latent->rope);
  if (m.reads_as == "deepseek_v4") return;
  out.put("qk_nope_head_dim", m.latent->nope);
  out.put("v_head_dim", m.latent->v_width);
  if (m.indexers.empty()) return;
  Words types;
  for (const bool owns : m.indexers) types.push_back(owns ? "full" : "shared");
  out.put("indexer_types", types);
}

void put_mamba1(const Metadata& m, Keys& out) {
  if (m.reads_as != "mamba") out.put("mamba_expand", m.state.inner / m.hidden);
  out.put("mamba_d_state", m.state.size);
  out.put("mamba_d_conv", m.state.taps);
  out.put("mamba_dt_rank", m.state.heads);
}

void put_mamba2(const Metadata& m, Keys& out) {
  out.put("mamba_num_heads", m.state.heads);
  out.put("mamba_head_dim", m.state.inner / m.state.heads);
  out.put("ssm_state_size", m.state.size);
  out.put("n_groups", std::max<std::int64_t>(m.state.groups, 1));
  out.put("conv_kernel", m.state.taps);
}

void put_delta_net(const Metadata& m, Keys& out) {
  out.put("linear_num_key_heads", m.state.groups);
  out.put("linear_num_value_heads", m.state.heads);
  out.put("linear_key_head_dim", m.state.size);
  out.put("linear_value_head_dim", m.state.inner / m.state.heads);
  out.put("linear_conv_kernel_dim", m.state.taps);
}

// Its lists count layers from 1.
void put_kda(const Metadata& m, Keys& out) {
  std::vector<std::int64_t> recurrent, full;
  for (std::int64_t i = 0; i < m.mains(); ++i)
    (m.recurrent[static_cast<std::size_t>(i)] ? recurrent : full).push_back(i + 1);
  Keys config;
  config.put("num_heads", *std::max_element(m.heads.begin(), m.heads.end()));
  config.put("head_dim", m.kda_width);
  config.put("short_conv_kernel_size", m.state.taps);
  config.put("kda_layers", recurrent);
  config.put("full_attn_layers", full);
  out.put("linear_attn_config", std::move(config.node));
}

void put_state(const Metadata& m, Keys& out) {
  switch (m.state_kind) {
    case Architecture::delta_net:
      return put_delta_net(m, out);
    case Architecture::mamba1:
      return put_mamba1(m, out);
    case Architecture::mamba2:
    case Architecture::mamba2_blocks:
      return put_mamba2(m, out);
    case Architecture::kda:
      return put_kda(m, out);
    case Architecture::mamba2_beside:  // apply_block_values() adds it
    case Architecture::rwkv:
    case Architecture::short_conv:
    case Architecture::none:
      return;
  }
}

// Jamba's configuration names its attention layers by a period.
void put_attention_period(const Metadata& m, Keys& out) {
  std::vector<std::int64_t> attends;
  for (std::int64_t i = 0; i < m.mains(); ++i)
    if (!m.recurrent[static_cast<std::size_t>(i)]) attends.push_back(i);
  if (attends.empty()) throw Error("no block attends").of("attention.head_count_kv");
  const std::int64_t period = attends.size() > 1 ? attends[1] - attends[0] : m.mains();
  for (std::size_t i = 1; i < attends.size(); ++i)
    if (attends[i] - attends[i - 1] != period)
      throw Error("the attention layers are not evenly spaced").of("attention.head_count_kv");
  out.put("attn_layer_period", period);
  out.put("attn_layer_offset", attends[0] % period);
}

std::string_view kind_of(const Metadata& m, std::size_t i) {
  const bool recurrent = !m.recurrent.empty() && m.recurrent[i];
  switch (m.state_kind) {
    case Architecture::mamba2:
      return recurrent ? "mamba" : "attention";
    case Architecture::mamba2_blocks:
      return recurrent ? "mamba" : m.kv_heads[i] > 0 ? "attention" : "mlp";
    case Architecture::short_conv:
      return recurrent ? "conv" : "full_attention";
    case Architecture::delta_net:
      return recurrent ? "linear_attention" : "full_attention";
    default:
      break;
  }
  if (m.slides.empty() || !m.slides[i]) return "full_attention";
  return m.known && m.known->chunked ? "chunked_attention" : "sliding_attention";
}

void put_layer_types(const Metadata& m, Keys& out) {
  if (m.state_kind == Architecture::kda || m.state_kind == Architecture::rwkv ||
      m.reads_as == "mamba")
    return;
  if (m.state_kind == Architecture::mamba1) return put_attention_period(m, out);
  if (m.reads_as == "deepseek_v4") {
    out.put("compress_ratios", m.compress_ratios);
    return out.put("sliding_window", m.window);
  }
  if (m.state_kind == Architecture::none && m.slides.empty()) return;
  Words words;
  for (std::size_t i = 0; i < static_cast<std::size_t>(m.mains()); ++i)
    words.push_back(kind_of(m, i));
  out.put(m.state_kind == Architecture::mamba2_blocks ? "layers_block_type" : "layer_types", words);
  if (m.slides.empty()) return;
  out.put(m.known && m.known->chunked ? "attention_chunk_size" : "sliding_window", m.window);
}

}  // namespace

Node translate(const Metadata& m) {
  Keys out;
  out.put("model_type", m.reads_as);
  for (const auto& [key, value] : m.renamed) out.put(key, value);
  put_heads(m, out);
  put_latent(m, out);
  put_state(m, out);
  put_layer_types(m, out);
  return std::move(out.node);
}

}  // namespace kvplan::gguf
