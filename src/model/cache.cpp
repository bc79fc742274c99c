// SPDX-License-Identifier: Apache-2.0
#include "model/cache.h"

#include <algorithm>
#include <string>

namespace kvplan {
namespace {

bool same_law(const Law& a, const Law& b) {
  if (a.index() != b.index()) return false;
  if (const auto* w = std::get_if<Window>(&a)) return w->size == std::get<Window>(b).size;
  if (const auto* c = std::get_if<Chunk>(&a)) return c->size == std::get<Chunk>(b).size;
  if (const auto* c = std::get_if<Compressed>(&a)) return c->ratio == std::get<Compressed>(b).ratio;
  if (const auto* s = std::get_if<State>(&a)) {
    const Recurrent &x = s->mixer, &y = std::get<State>(b).mixer;
    return x.kind == y.kind && x.k_heads == y.k_heads && x.v_heads == y.v_heads &&
           x.k_width == y.k_width && x.v_width == y.v_width && x.taps == y.taps &&
           x.conv_channels == y.conv_channels && x.state_format == y.state_format &&
           s->conv_format == std::get<State>(b).conv_format;
  }
  return true;
}

bool same_part(const Part& a, const Part& b) {
  return a.role == b.role && a.heads == b.heads && a.width == b.width && a.format == b.format &&
         a.replicated == b.replicated;
}

bool same_group(const CacheGroup& a, const CacheGroup& b) {
  return a.kind == b.kind && same_law(a.law, b.law) && a.read_limit == b.read_limit &&
         std::equal(a.entry.begin(), a.entry.end(), b.entry.begin(), b.entry.end(), same_part);
}

std::vector<Part> attention_entry(const Attention& a, const CacheFormats& f) {
  if (!a.v_is_k)
    return {{Part::key, a.kv_heads, a.k_width, f.key},
            {Part::value, a.kv_heads, a.v_width, f.value}};
  // One shared row serves as key and value; packed formats keep its rotary part in 16 bits.
  return {{Part::latent, a.kv_heads, a.k_width - a.rope_width, f.shared, true},
          {Part::rope, a.kv_heads, a.rope_width, f.rope, true}};
}

CacheGroup::Kind kind_of(const Reach& reach) {
  if (std::holds_alternative<Window>(reach)) return CacheGroup::window;
  if (std::holds_alternative<Chunk>(reach)) return CacheGroup::chunk;
  if (std::holds_alternative<Compressed>(reach)) return CacheGroup::compressed;
  if (std::holds_alternative<Source>(reach)) return CacheGroup::cross;
  return CacheGroup::full;
}

Law law_of(const Reach& reach) {
  return std::visit([](const auto& r) -> Law { return r; }, reach);
}

// All caches that one mixer needs, each as a group without layers.
std::vector<CacheGroup> caches_of(const Mixer& mixer, const CacheFormats& f) {
  std::vector<CacheGroup> found;
  const auto state = [&](const Recurrent& r) {
    CacheGroup group;
    group.kind = CacheGroup::state;
    group.law = State{r, f.conv};
    found.push_back(group);
  };
  for (const Reach& reach : mixer.reach) {
    CacheGroup group;
    group.law = law_of(reach);
    group.kind = kind_of(reach);
    if (const auto* attention = std::get_if<Attention>(&mixer.kind)) {
      group.entry = attention_entry(*attention, f);
    } else if (const auto* latent = std::get_if<Latent>(&mixer.kind)) {
      group.kind = CacheGroup::latent;
      group.entry = {{Part::latent, 1, latent->latent, f.latent, true},
                     {Part::rope, 1, latent->rope, f.rope, true}};
    }
    const bool searched =
        std::holds_alternative<All>(reach) || std::holds_alternative<Compressed>(reach);
    if (mixer.sparse && mixer.sparse->top_entries > 0 && searched)
      group.read_limit = mixer.sparse->top_entries;
    found.push_back(group);
  }
  if (mixer.sparse && mixer.sparse->owns_keys) {
    CacheGroup group;
    group.kind = CacheGroup::index;
    group.law = mixer.sparse->ratio > 1 ? Law(Compressed{mixer.sparse->ratio}) : Law(All{});
    group.entry = {{Part::index, mixer.sparse->key_heads, mixer.sparse->width, f.index, true}};
    found.push_back(group);
  }
  if (const auto* recurrent = std::get_if<Recurrent>(&mixer.kind)) state(*recurrent);
  if (mixer.beside) state(*mixer.beside);
  return found;
}

// Heads of one rank: divided down to one, then replicated.
std::int64_t heads_on_rank(std::int64_t heads, std::int64_t tp) {
  if (heads % tp == 0) return heads / tp;
  if (tp % heads == 0) return 1;
  throw Error(std::to_string(heads) + " KV heads cannot be spread over " + std::to_string(tp) +
              " GPUs")
      .of("--tp")
      .advise("Use a number that divides the KV heads or is a multiple of them.");
}

std::int64_t state_share(std::int64_t count, std::int64_t tp, const char* what) {
  if (count % tp == 0) return count / tp;
  throw Error("tensor parallelism " + std::to_string(tp) + " does not divide the " +
              std::to_string(count) + " " + what + " of a recurrent layer")
      .of("--tp")
      .advise("Use a number that divides them.");
}

// Channels of one rank that pass the convolution. Groups of Mamba-2 that tp does not divide are
// repeated, one group a rank (the rule of vLLM's Mamba2 mixer).
std::int64_t conv_channels_on_rank(const Recurrent& r, std::int64_t tp) {
  if (r.kind == Recurrent::mamba2 && r.k_heads % tp != 0) {
    const std::int64_t grouped = checked_mul(2 * r.k_heads, r.k_width);
    return checked_add(state_share(r.conv_channels - grouped, tp, "channels"), 2 * r.k_width);
  }
  if (r.kind == Recurrent::gated_delta_net) state_share(r.k_heads, tp, "key heads");
  return state_share(r.conv_channels, tp, "convolution channels");
}

// Rows of its input that a convolution keeps for the next token, and the bytes of one.
std::int64_t kept_rows(const Recurrent& r) { return r.taps > 1 ? r.taps - 1 : 0; }
Bytes conv_row(const State& state, std::int64_t tp) {
  if (kept_rows(state.mixer) == 0) return Bytes(0);
  return payload_bytes(*state.conv_format, 1, conv_channels_on_rank(state.mixer, tp));
}

// The recurrent part: one k_width x v_width matrix per value head.
Bytes matrix_bytes(const State& state, std::int64_t tp) {
  const Recurrent& r = state.mixer;
  if (r.kind == Recurrent::short_conv) return Bytes(0);
  if (r.kind == Recurrent::compressor)
    return payload_bytes(r.state_format ? *r.state_format : *state.conv_format, r.k_width,
                         r.v_width);
  const Format& format = r.state_format ? *r.state_format : format_named("fp32");
  const std::int64_t heads = state_share(r.v_heads, tp, "value heads");
  return payload_bytes(format, checked_mul(heads, r.k_width), r.v_width);
}

const Format& cache_format(std::string_view name) {
  try {
    const Format& f = format_named(name);
    if (f.scales.rows == 0) return f;
    throw Error("'" + std::string(name) +
                "' is a format of weights: its scales are per tile of a matrix")
        .advise("Caches take bf16, fp8, int8, int8_per_token_head, nvfp4, q8_0 and the like.");
  } catch (Error& error) {
    throw error.of("--kv");
  }
}

}  // namespace

CacheFormats cache_formats(std::string_view text) {
  const Format *fp8_groups = &format_named("fp8-g128"), *bf16 = &format_named("bf16");
  CacheFormats f;
  f.name = text;
  f.conv = bf16;
  // What vLLM calls fp8_ds_mla: DeepSeek-V3.2 keeps 512 fp8 + 4 fp32 scales + 64 bf16 = 656 B,
  // DeepSeek-V4 448 fp8 + 8 B of scales + 64 bf16 = 584 B (deepseek-ai/FlashMLA, README).
  if (text == "fp8_ds_mla") {
    f.key = f.value = &format_named("fp8");
    f.latent = f.index = fp8_groups;
    f.shared = &format_named("fp8-row8");
    f.rope = bf16;
    return f;
  }
  const std::size_t comma = text.find(',');
  f.key = &cache_format(text.substr(0, comma));
  f.value = comma == text.npos ? f.key : &cache_format(text.substr(comma + 1));
  f.latent = f.rope = f.shared = f.key;
  // Indexers search keys of at most 8 bits with an fp32 scale per 128 (DeepSeek-V3.2) unless the
  // cache is wider.
  f.index = f.key->bits >= 16 ? f.key : fp8_groups;
  return f;
}

std::vector<CacheGroup> cache_groups(const ModelSpec& model, const CacheFormats& formats,
                                     bool with_mtp) {
  std::vector<CacheGroup> groups;
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    if (layer.role == Layer::encoder || !layer.mixer.causal) continue;
    if (layer.role == Layer::mtp && !with_mtp) continue;
    for (CacheGroup& cache : caches_of(layer.mixer, formats)) {
      auto at = std::find_if(groups.begin(), groups.end(),
                             [&](const CacheGroup& g) { return same_group(g, cache); });
      if (at == groups.end() && layer.mixer.shares_cache_of)
        throw Error("layer " + std::to_string(i) + " shares a cache that no earlier layer owns");
      if (at == groups.end()) at = groups.insert(at, std::move(cache));
      at->readers.push_back(static_cast<int>(i));
      if (!layer.mixer.shares_cache_of) at->layers.push_back(static_cast<int>(i));
    }
  }
  return groups;
}

Bytes entry_bytes(const CacheGroup& group, const CacheSharding& sharding) {
  Bytes sum;
  for (const Part& part : group.entry)
    sum += cache_row_bytes(*part.format,
                           part.replicated ? part.heads : heads_on_rank(part.heads, sharding.tp),
                           part.width);
  return Bytes(round_up(sum.n, group.entry_multiple));
}

Bytes state_bytes(const CacheGroup& group, const CacheSharding& sharding) {
  const auto* state = std::get_if<State>(&group.law);
  if (!state) return Bytes(0);
  return conv_row(*state, sharding.tp) * kept_rows(state->mixer) +
         matrix_bytes(*state, sharding.tp);
}

Recurrent on_rank(const State& state, const CacheSharding& sharding) {
  Recurrent r = state.mixer;
  r.conv_channels = kept_rows(r) > 0 ? conv_channels_on_rank(r, sharding.tp) : 0;
  r.v_heads = state_share(r.v_heads, sharding.tp, "value heads");
  r.k_heads = ceil_div(r.k_heads, sharding.tp);
  return r;
}

// The matrix decays and grows, so all of it is read and written; of the convolution's rows one is
// written. A compressor writes one row and reads its ring only where an entry is due.
Bytes state_traffic(const CacheGroup& group, const CacheSharding& sharding) {
  const auto* state = std::get_if<State>(&group.law);
  if (!state) return Bytes(0);
  const Recurrent& r = state->mixer;
  const Bytes matrix = matrix_bytes(*state, sharding.tp);
  if (r.kind == Recurrent::compressor)
    return Bytes(matrix.n / std::max<std::int64_t>(1, r.k_width));
  return matrix * 2 + conv_row(*state, sharding.tp) * (kept_rows(r) + 1);
}

std::int64_t stored_entries(const CacheGroup& group, Tokens context, Tokens source) {
  if (const auto* w = std::get_if<Window>(&group.law)) return std::min(context, w->size).n;
  if (const auto* c = std::get_if<Chunk>(&group.law))
    return context.n > 0 ? (context.n - 1) % c->size.n + 1 : 0;
  if (const auto* c = std::get_if<Compressed>(&group.law)) return context.n / c->ratio;
  if (std::holds_alternative<Source>(group.law)) return source.n;
  if (std::holds_alternative<State>(group.law)) return 0;
  return context.n;
}

std::int64_t read_entries(const CacheGroup& group, Tokens context, Tokens source) {
  const std::int64_t entries = stored_entries(group, context, source);
  return group.read_limit ? std::min(entries, *group.read_limit) : entries;
}

std::int64_t entries_in_prefix(const CacheGroup& group, Tokens context, Tokens prefix) {
  if (std::holds_alternative<Source>(group.law)) return 0;
  const std::int64_t kept = stored_entries(group, context), shared = std::min(prefix, context).n;
  if (const auto* c = std::get_if<Compressed>(&group.law))
    return std::min(read_entries(group, context), shared / c->ratio);
  const std::int64_t dropped = context.n - kept;  // in front of the window or chunk
  return std::min(read_entries(group, context), std::max<std::int64_t>(0, shared - dropped));
}

Bytes stored_bytes(const CacheGroup& group, Tokens context, Tokens source,
                   const CacheSharding& sharding) {
  const auto layers = static_cast<std::int64_t>(group.layers.size());
  if (std::holds_alternative<State>(group.law)) return state_bytes(group, sharding) * layers;
  const std::int64_t entries = ceil_div(stored_entries(group, context, source), sharding.dcp);
  return entry_bytes(group, sharding) * checked_mul(entries, layers);
}

double bytes_per_token(const CacheGroup& group) {
  if (std::holds_alternative<State>(group.law) || std::holds_alternative<Source>(group.law))
    return 0;
  const double bytes = (entry_bytes(group) * static_cast<std::int64_t>(group.layers.size())).real();
  if (const auto* c = std::get_if<Compressed>(&group.law))
    return bytes / static_cast<double>(c->ratio);
  return bytes;
}

double growth_per_token(const std::vector<CacheGroup>& groups, const CacheSharding& sharding) {
  double sum = 0;
  for (const CacheGroup& group : groups) {
    const auto* compressed = std::get_if<Compressed>(&group.law);
    if (!compressed && !std::holds_alternative<All>(group.law)) continue;
    const double bytes =
        (entry_bytes(group, sharding) * static_cast<std::int64_t>(group.layers.size())).real();
    sum += bytes / static_cast<double>((compressed ? compressed->ratio : 1) * sharding.dcp);
  }
  return sum;
}

}  // namespace kvplan
