// SPDX-License-Identifier: Apache-2.0
#include "cost/cache_term.h"

#include <algorithm>
#include <array>

#include "cost/pairs.h"

namespace kvplan {
namespace {

// Flops of one query against one entry, all heads of the rank; a multiply-add is two.
struct EntryFlops {
  double plain = 0;      // scores over the key's width, sums over the value's
  double expanded = 0;   // MLA: over nope + rope and v_width per head, after
  double expansion = 0;  // a product of each latent with the up-projections
};

// MLA in absorbed form scores latent + rope numbers per head and sums the latent; its own
// projections count with the weights either way. An indexer scores its keys with all its heads,
// which an engine may divide.
EntryFlops entry_flops(const Mixer& mixer, CacheGroup::Kind kind, std::int64_t tp) {
  const auto flops = [tp](std::int64_t heads, std::int64_t width) {
    return 2.0 * static_cast<double>(checked_mul(heads, width)) / static_cast<double>(tp);
  };
  if (kind == CacheGroup::index)
    return {mixer.sparse ? flops(mixer.sparse->heads, mixer.sparse->width) : 0, 0, 0};
  if (const auto* a = std::get_if<Attention>(&mixer.kind))
    return {flops(a->heads, a->k_width + a->v_width), 0, 0};
  if (const auto* l = std::get_if<Latent>(&mixer.kind))
    return {flops(l->heads, 2 * l->latent + l->rope),
            flops(l->heads, l->nope + l->rope + l->v_width),
            flops(l->heads, checked_mul(l->nope + l->v_width, l->latent))};
  return {};
}

// Update and query of each number of the state: two multiply-adds.
double state_flops(const CacheGroup& group, std::int64_t tp) {
  const auto* state = std::get_if<State>(&group.law);
  if (!state || state->mixer.kind == Recurrent::compressor) return 0;
  const Recurrent& r = state->mixer;
  return 4.0 * static_cast<double>(checked_mul(checked_mul(r.v_heads, r.k_width), r.v_width)) /
         static_cast<double>(tp);
}

std::int64_t count_between(const std::vector<int>& layers, std::int64_t first, std::int64_t end) {
  return std::count_if(layers.begin(), layers.end(), [&](int i) { return i >= first && i < end; });
}

// A sum over sequences of which each does `all`, and `once` of it is the same work.
double over_sequences(double all, double once, std::int64_t sequences) {
  const auto n = static_cast<double>(sequences);
  return all * n - once * (n - 1);
}

}  // namespace

std::string_view name_of_cache(CacheGroup::Kind kind) {
  constexpr std::array<std::string_view, 8> kNames = {
      "cache",      "window cache",     "chunk cache", "latent cache",
      "index keys", "compressed cache", "state cache", "cross cache"};
  return kNames[kind];
}

CacheTerm cache_term(const CacheGroup& group, const ModelSpec& model, const Parallelism& p,
                     std::int64_t first, std::int64_t end) {
  const CacheSharding sharding{p.tp, p.dcp};
  const std::int64_t owners = count_between(group.layers, first, end);
  CacheTerm term;
  term.group = group;
  term.dcp = p.dcp;
  for (const Part& part : group.entry)
    if (!term.fastest || part.format->bits < term.fastest->bits) term.fastest = part.format;
  if (!term.fastest) term.fastest = &format_named("bf16");  // a state: its inputs are in 16 bits
  const Bytes entry = entry_bytes(group, sharding);
  term.read_per_entry = entry * count_between(group.readers, first, end);
  if (!std::holds_alternative<Source>(group.law)) term.written_per_entry = entry * owners;
  if (const auto* c = std::get_if<Compressed>(&group.law)) term.tokens_per_entry = c->ratio;
  term.state = state_bytes(group, sharding) * owners;
  term.state_traffic = state_traffic(group, sharding) * owners;
  term.state_flops = state_flops(group, p.tp) * static_cast<double>(owners);
  for (const int i : group.readers) {
    if (i < first || i >= end) continue;
    const Mixer& mixer = model.layers[static_cast<std::size_t>(i)].mixer;
    const EntryFlops flops = entry_flops(mixer, group.kind, p.tp);
    term.flops_per_entry += flops.plain;
    term.expanded_flops_per_entry += flops.expanded;
    term.expansion_flops += flops.expansion;
  }
  return term;
}

// Entries that all sequences share are read once for the batch; each sequence writes its own.
// Shared latents may be expanded once for all.
CacheUse step_use(const CacheTerm& t, const Past& past, std::int64_t batch) {
  const std::int64_t entries = read_entries(t.group, past.context, past.source);
  const std::int64_t common =
      past.shared.n > 0 ? entries_in_prefix(t.group, past.context, past.shared) : 0;
  const std::int64_t distinct = checked_add(common, checked_mul(entries - common, batch));
  const std::int64_t written = batch / t.tokens_per_entry / t.dcp;
  CacheUse use;
  use.bytes = t.read_per_entry * ceil_div(distinct, t.dcp) + t.written_per_entry * written +
              t.state_traffic * batch;
  const auto b = static_cast<double>(batch), shared = static_cast<double>(common);
  double once = shared * b * t.flops_per_entry;
  if (t.expansion_flops > 0)
    once = std::min(once, shared * (b * t.expanded_flops_per_entry + t.expansion_flops));
  use.flops =
      static_cast<double>(entries - common) * b * t.flops_per_entry + once + b * t.state_flops;
  return use;
}

// MLA over a prompt is cheapest expanded to heads; the expansion is among the weights' products.
CacheUse prompt_use(const CacheTerm& t, const Past& past, std::int64_t batch) {
  const std::int64_t common = entries_in_prefix(t.group, past.context, past.shared);
  const std::int64_t own = stored_entries(t.group, past.context, past.source) - common;
  const std::int64_t entries = checked_add(common, checked_mul(own, batch));
  const double per_pair = t.expansion_flops > 0
                              ? std::min(t.flops_per_entry, t.expanded_flops_per_entry)
                              : t.flops_per_entry;
  const double pairs = over_sequences(query_key_pairs(t.group, past.context, past.source),
                                      query_key_pairs(t.group, past.shared, past.source), batch);
  const double tokens = over_sequences(past.context.real(), past.shared.real(), batch);
  return {t.written_per_entry * ceil_div(entries, t.dcp) + t.state * batch,
          per_pair * pairs + t.state_flops * tokens};
}

}  // namespace kvplan
