// SPDX-License-Identifier: Apache-2.0
// Page sizes: vllm/v1/kv_cache_interface.py; block of hybrid models: vllm/platforms/interface.py
// and its start-up lines (club-3090#158, vllm#28228).
#include "engine/vllm/pages.h"

#include <algorithm>
#include <numeric>

#include "engine/vllm/plain_layers.h"
#include "word_list.h"

namespace kvplan::vllm {
namespace {

constexpr std::int64_t kAttentionBlock = 16;   // least of FlashAttention, Triton, FlashInfer
constexpr std::int64_t kLatentBlock = 64;      // FlashMLA, sparse MLA
constexpr std::int64_t kSparseBlock = 128;     // sparse attention over heads (MiniMax-M3)
constexpr std::int64_t kIndexScale = 4;        // bytes per index key, which is 8 bits wide
constexpr std::int64_t kExpandedLatent = 256;  // width of K and V heads before latents were cached

// Models whose latents vLLM expands to heads as it caches them.
constexpr std::string_view kExpanded = "minicpm3 plm";

const Mixer& mixer_of(const CacheGroup& group, const ModelSpec& model) {
  return model.layers[static_cast<std::size_t>(group.layers.front())].mixer;
}

// An indexer over K and V heads, not over latents.
bool indexes_heads(const CacheGroup& group, const ModelSpec& model) {
  const auto* attention = std::get_if<Attention>(&mixer_of(group, model).kind);
  return attention && !attention->v_is_k;
}

bool is_eight_bit(const Part& part) {
  return payload_bytes(*part.format, 1, part.width).n < 2 * part.width;
}

std::int64_t heads_per_rank(const Part& part, std::int64_t tp) {
  return part.replicated ? part.heads : std::max<std::int64_t>(1, part.heads / tp);
}

bool stores_latents(const Served& served) {
  return served.rules.stores_latent && !has_word(kExpanded, served.model.model_type);
}

// K and V of every head, as wide as K; before latents were cached padded to a multiple of 256.
Bytes expanded_row(const CacheGroup& group, const Served& served) {
  const auto& latent = std::get<Latent>(mixer_of(group, served.model).kind);
  const std::int64_t heads = std::max<std::int64_t>(1, latent.heads / served.parallel.tp);
  const std::int64_t width = latent.nope + latent.rope;
  if (served.rules.stores_latent)
    return 2 * payload_bytes(*group.entry.front().format, heads, width);
  return 2 * payload_bytes(*served.model.native, heads, round_up(width, kExpandedLatent));
}

// Keys of an indexer over latents are 8 bits and a scale, over heads as the model's own.
Bytes index_row(const CacheGroup& group, const Part& part, const Served& served) {
  if (indexes_heads(group, served.model))
    return payload_bytes(*served.model.native, part.heads, part.width);
  return Bytes(checked_mul(part.heads, part.width + kIndexScale));
}

Demand demand_of(const CacheGroup& group, const Served& served, std::int64_t block) {
  const Serving& s = served.serving;
  Demand d;
  d.block = block;
  d.shards = served.parallel.dcp;
  if (const auto* window = std::get_if<Window>(&group.law)) {
    d.law = Demand::window;
    d.size = window->size.n;
    d.in_flight = s.in_flight();
  } else if (const auto* chunk = std::get_if<Chunk>(&group.law)) {
    d.law = Demand::chunk;
    d.size = chunk->size.n;
    d.in_flight = s.in_flight();
  } else if (std::holds_alternative<Source>(group.law)) {
    d.law = Demand::source;
    // The profiler counts on as many encoder tokens as one step has.
    d.size = served.source_tokens.n > 0 ? served.source_tokens.n : s.batched_tokens;
  }
  return d;
}

bool exports(const Recurrent& mixer, const Served& served) {
  return served.rules.exports_states && served.serving.state_cache == StateCache::align &&
         exports_states(mixer, served.serving.gpu);
}

// States of one sequence: the running one, one per drafted token, for prefix caching one more, and
// another where it is taken from the middle of a prefill.
Demand state_demand(const Recurrent& mixer, const Served& served, std::int64_t block) {
  const Serving& s = served.serving;
  Demand d;
  d.block = block;
  if (s.state_cache == StateCache::all) {
    d.extra = served.rules.speculates_on_all_states ? s.draft.tokens : 0;
    return d;
  }
  d.law = Demand::fixed;
  d.size = 1 + s.draft.tokens;
  if (s.state_cache == StateCache::align) d.size += exports(mixer, served) ? 2 : 1;
  return d;
}

// Tokens of the chunks in which a kernel computes recurrent layers.
std::int64_t state_chunk(Recurrent::Kind kind) {
  return kind == Recurrent::mamba1 ? 2048 : kind == Recurrent::mamba2 ? 256 : 64;
}

bool same_part(const Part& a, const Part& b) {
  return a.role == b.role && a.heads == b.heads && a.width == b.width && *a.format == *b.format;
}

// The engine compares what is stored, not what is read of it.
bool same_cache(const Bucket& a, const Bucket& b) {
  return !a.recurrent && !b.recurrent && a.demand == b.demand &&
         std::equal(a.entry.begin(), a.entry.end(), b.entry.begin(), b.entry.end(), same_part);
}

struct HybridBlock {
  std::int64_t block;
  Bytes state_page;
};

// Every attention layer of a hybrid model takes the block that makes the first attention layer's
// page as large as the largest state; states are padded to that page.
HybridBlock hybrid_sizes(const std::vector<CacheGroup>& groups, const Served& served) {
  const Serving& s = served.serving;
  std::int64_t grain = std::max(attention_block(groups, served), kAttentionBlock);
  Bytes state;
  const CacheGroup* attention = nullptr;
  for (const CacheGroup& g : groups) {
    if (const auto* kept = std::get_if<State>(&g.law)) {
      state = std::max(state, state_page(*kept, served));
      if (s.state_cache == StateCache::all)
        grain = std::lcm(grain, s.state_chunk.value_or(state_chunk(kept->mixer.kind)));
      if (exports(kept->mixer, served)) grain = std::lcm(grain, export_grain(kept->mixer));
    } else if (!attention) {
      attention = &g;
    }
  }
  if (attention && attention->kind == CacheGroup::latent)
    grain = std::lcm(grain, served.rules.hybrid_latent_grain);
  if (!attention) return {s.block_size.value_or(s.max_model_len.n), state};
  const Bytes row = row_bytes(*attention, served);
  const std::int64_t block = hybrid_block(state, row, grain);
  return {block, row * block};
}

}  // namespace

Bytes row_bytes(const CacheGroup& group, const Served& served) {
  if (group.kind == CacheGroup::latent && !stores_latents(served))
    return expanded_row(group, served);
  Bytes total;
  for (const Part& part : group.entry) {
    const std::int64_t heads = heads_per_rank(part, served.parallel.tp);
    total += part.role == Part::index ? index_row(group, part, served)
                                      : cache_row_bytes(*part.format, heads, part.width);
  }
  return Bytes(round_up(total.n, group.entry_multiple));
}

namespace {

const Format& recurrent_format(const Recurrent& r, const Served& served) {
  if (served.serving.state_format) return *served.serving.state_format;
  if (r.state_format) return *r.state_format;
  const bool wide = r.kind == Recurrent::kda ||
                    (served.rules.wide_nemotron_states && served.model.model_type == "nemotron_h");
  return wide ? format_named("fp32") : *served.model.native;
}

}  // namespace

Bytes state_page(const State& state, const Served& served) {
  const Recurrent& r = state.mixer;
  const std::int64_t tp = served.parallel.tp;
  std::int64_t channels = r.conv_channels;
  // Groups that tp does not divide are replicated so that each rank has one.
  if (r.kind == Recurrent::mamba2 && r.k_heads % tp != 0)
    channels += 2 * (tp - r.k_heads) * r.k_width;
  const Format& conv = served.serving.conv_format ? *served.serving.conv_format
                       : state.conv_format        ? *state.conv_format
                                                  : *served.model.native;
  const bool drafts = r.kind != Recurrent::short_conv && r.kind != Recurrent::mamba1;
  const std::int64_t rows =
      std::max<std::int64_t>(r.taps - 1, 0) + (drafts ? served.serving.draft.tokens : 0);
  Bytes total = payload_bytes(conv, rows, channels / tp);
  if (r.kind == Recurrent::short_conv) return total;
  const std::int64_t elements = checked_mul(checked_mul(r.v_heads, r.k_width), r.v_width);
  if (elements % tp != 0)
    throw Error("does not divide the state of the recurrent layers").of("tensor_parallel_size");
  return total + payload_bytes(recurrent_format(r, served), elements / tp, 1);
}

std::int64_t hybrid_block(Bytes state, Bytes row, std::int64_t grain) {
  return checked_mul(grain, ceil_div(state.n, checked_mul(grain, row.n)));
}

std::int64_t attention_block(const std::vector<CacheGroup>& groups, const Served& served) {
  const Serving& serving = served.serving;
  if (serving.block_size) return *serving.block_size;
  bool sparse = false, eight_bits = false, latents = false;
  for (const CacheGroup& g : groups) {
    if (g.kind == CacheGroup::index && indexes_heads(g, served.model)) return kSparseBlock;
    sparse = sparse || g.kind == CacheGroup::index;
    latents = latents || (g.kind == CacheGroup::latent && stores_latents(served));
    if (g.kind == CacheGroup::latent && !g.entry.empty())
      eight_bits = eight_bits || is_eight_bit(g.entry.front());
  }
  if (!sparse && !latents) return serving.default_block;
  if (serving.kernel_block) return *serving.kernel_block;
  return served.rules.kernel_latent_blocks ? latent_block(serving.gpu, sparse, eight_bits)
                                           : kLatentBlock;
}

std::vector<int> stages_of(const ModelSpec& model, std::int64_t pp) {
  const auto layers = static_cast<std::int64_t>(main_layers(model).size());
  // The layers that do not divide go to the stages before the last, which also holds the head.
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(pp), layers / pp);
  for (std::int64_t i = 0; i < layers % pp; ++i)
    ++sizes[static_cast<std::size_t>(std::max<std::int64_t>(pp - 2 - i, 0))];
  std::vector<int> stages;
  std::size_t stage = 0;
  std::int64_t left = sizes[0];
  for (const Layer& layer : model.layers) {
    if (layer.role != Layer::main) {
      stages.push_back(layer.role == Layer::mtp ? static_cast<int>(pp - 1) : 0);
      continue;
    }
    while (left == 0) left = sizes[++stage];
    --left;
    stages.push_back(static_cast<int>(stage));
  }
  return stages;
}

std::vector<int> stages_of_group(const CacheGroup& group, const Served& served) {
  const std::vector<int> all = stages_of(served.model, served.parallel.pp);
  std::vector<int> own;
  for (int layer : group.layers) own.push_back(all[static_cast<std::size_t>(layer)]);
  return own;
}

namespace {

// Makes room for layers in the model's own format; the page that windows take, where there is one.
std::optional<Bytes> share_page(const std::vector<CacheGroup>& groups, const Served& served,
                                HybridBlock& sizes) {
  if (served.serving.plain_cache.none()) return std::nullopt;
  const auto first = std::find_if(groups.begin(), groups.end(), [](const CacheGroup& g) {
    return !std::holds_alternative<State>(g.law);
  });
  if (first == groups.end()) return std::nullopt;
  const SharedPage shared = shared_page(*first, sizes.block, sizes.state_page, served);
  if (sizes.state_page.n > 0) sizes.state_page = shared.bytes;
  sizes.block = shared.block;
  return shared.bytes;
}

}  // namespace

std::vector<Bucket> buckets_of(const std::vector<CacheGroup>& groups, const Served& served) {
  const bool hybrid = std::any_of(groups.begin(), groups.end(), [](const CacheGroup& g) {
    return std::holds_alternative<State>(g.law);
  });
  HybridBlock sizes{attention_block(groups, served), Bytes(0)};
  if (hybrid) sizes = hybrid_sizes(groups, served);
  const std::optional<Bytes> window_page = share_page(groups, served, sizes);
  std::vector<Bucket> buckets;
  for (const CacheGroup& g : groups) {
    if (g.layers.empty()) continue;
    Bucket b;
    b.stages = stages_of_group(g, served);
    b.entry = g.entry;
    const auto* state = std::get_if<State>(&g.law);
    b.recurrent = state != nullptr;
    b.demand =
        state ? state_demand(state->mixer, served, sizes.block) : demand_of(g, served, sizes.block);
    b.page = state ? sizes.state_page : row_bytes(g, served) * sizes.block;
    if (window_page && b.demand.law == Demand::window) {
      b.demand.block = window_block(*window_page, row_bytes(g, served));
      b.page = std::max(*window_page, row_bytes(g, served) * b.demand.block);
    }
    const auto same = std::find_if(buckets.begin(), buckets.end(),
                                   [&](const Bucket& other) { return same_cache(other, b); });
    if (same == buckets.end())
      buckets.push_back(std::move(b));
    else
      same->stages.insert(same->stages.end(), b.stages.begin(), b.stages.end());
  }
  return buckets;
}

}  // namespace kvplan::vllm
