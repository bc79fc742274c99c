// SPDX-License-Identifier: Apache-2.0
#include "cost/prefill.h"

#include <algorithm>
#include <cmath>

#include "cost/rank.h"

namespace kvplan {
namespace {

// Query-key pairs of one causal layer over a prompt of n tokens.
double pairs(const CacheGroup& group, Tokens prompt, Tokens source) {
  const auto n = prompt.real();
  const auto capped = [n](double w) {
    return n <= w ? n * (n + 1) / 2 : w * (w + 1) / 2 + (n - w) * w;
  };
  double all = n * (n + 1) / 2;
  if (const auto* w = std::get_if<Window>(&group.law)) all = capped(w->size.real());
  if (const auto* c = std::get_if<Chunk>(&group.law)) {
    const double size = c->size.real(), full = std::floor(n / size), rest = n - full * size;
    all = full * size * (size + 1) / 2 + rest * (rest + 1) / 2;
  }
  if (const auto* c = std::get_if<Compressed>(&group.law)) all /= static_cast<double>(c->ratio);
  if (std::holds_alternative<Source>(group.law)) all = n * source.real();
  if (std::holds_alternative<State>(group.law)) all = 0;
  return group.read_limit ? std::min(all, capped(static_cast<double>(*group.read_limit))) : all;
}

// MLA over a prompt is cheapest expanded: every head scores nope + rope numbers and sums v_width,
// against 2 · latent + rope absorbed; the expansion itself is part of the weights' products.
double flops_per_pair(const CacheTerm& cache, const ModelSpec& model, std::int64_t tp) {
  if (cache.group.kind != CacheGroup::latent || cache.group.readers.empty())
    return cache.flops_per_entry;
  const auto& layer = model.layers[static_cast<std::size_t>(cache.group.readers[0])];
  const auto* l = std::get_if<Latent>(&layer.mixer.kind);
  if (!l) return cache.flops_per_entry;
  const auto heads = static_cast<double>(ceil_div(l->heads, tp));
  const double expanded = 2 * heads * static_cast<double>(l->nope + l->rope + l->v_width);
  const double absorbed = 2 * heads * static_cast<double>(2 * l->latent + l->rope);
  return cache.flops_per_entry * std::min(1.0, expanded / absorbed);
}

}  // namespace

Prefill prefill(const ModelSpec& model, const Deployment& deployment, const DeviceSpec& device,
                Tokens prompt, std::int64_t batch, Trace* trace) {
  const Parallelism& p = deployment.parallel;
  const std::int64_t local = ceil_div(batch, p.dp);
  const double sequences = static_cast<double>(local), tokens = prompt.real() * sequences;
  const Format* cache_format = deployment.cache.key ? deployment.cache.key : &format_named("bf16");
  const auto attention_rate = device.peak_for(*cache_format);

  Prefill result;
  Seconds slowest;
  double all_flops = 0, all_attention = 0;
  for (const RankTerms& rank : rank_terms(model, deployment)) {
    double flops = 0, attention = 0;
    Seconds compute;
    const auto add = [&](const Format& format, double amount) {
      flops += amount;
      if (const auto rate = device.peak_for(format)) compute += Flops(amount) / *rate;
    };
    for (const ProductTerm& product : rank.products)
      add(*product.format, product.flops_per_token * tokens);
    if (rank.head_format) add(*rank.head_format, rank.head_flops_per_token * sequences);
    Bytes weights = rank.dense + rank.table_row * static_cast<std::int64_t>(tokens), written;
    for (const ExpertTerm& term : rank.experts) {  // at most every expert, at least k
      const double choices =
          std::min(static_cast<double>(term.experts), tokens * static_cast<double>(term.active));
      weights += Bytes(static_cast<std::int64_t>(term.bytes.real() * choices /
                                                 static_cast<double>(term.experts)));
    }
    // The fewest bytes that can be read: all tokens may agree on the same k experts.
    Bytes least = rank.dense;
    for (const ExpertTerm& term : rank.experts)
      least += Bytes(mul_div(term.bytes.n, term.active, term.experts));
    for (const CacheTerm& cache : rank.caches) {
      attention += flops_per_pair(cache, model, p.tp) *
                   pairs(cache.group, prompt, deployment.source_tokens) * sequences;
      const std::int64_t entries = stored_entries(cache.group, prompt, deployment.source_tokens);
      written +=
          cache.written_per_entry * checked_mul(entries, local) + Bytes(cache.state.n / 2) * local;
    }
    if (attention_rate) compute += Flops(attention) / *attention_rate;
    const Bytes cached = device.last_level_cache ? device.last_level_cache->value : Bytes(0);
    const Bytes distinct = least + written;
    const Seconds memory = std::max(Bytes(0), distinct - cached) / device.bandwidth.value;
    Seconds link;
    if (device.peer && rank.crossing_per_token.n > 0)
      link =
          rank.crossing_per_token * checked_mul(prompt.n, local) / device.peer->per_direction.value;
    const Seconds total = std::max({memory, compute, link});
    if (total >= slowest) {
      slowest = total;
      result.bound = total == compute  ? Bound::compute
                     : total == memory ? Bound::bandwidth
                                       : Bound::link;
    }
    result.weight_bytes += weights * p.tp;
    result.kv_bytes += written * p.tp;
    all_flops += (flops + attention) * static_cast<double>(p.tp);
    all_attention += attention * static_cast<double>(p.tp);
    if (!trace) continue;
    trace->note("flops of one GPU = products with weights + causal scores and values",
                {{"products", flops}, {"attention", attention}}, flops + attention, "flop");
    trace->note("arithmetic time = flops / fastest peak for each format", {}, compute.v, "s");
    trace->note("memory time = (weights + cache written - last-level cache) / bandwidth",
                {{"weights", least.real()}, {"written", written.real()}}, memory.v, "s");
  }
  result.flops = Flops(all_flops);
  result.attention_flops = Flops(all_attention);
  // A chunked prompt may keep every stage busy, so pipeline stages bound by the slowest one alone.
  result.seconds = slowest;
  return result;
}

}  // namespace kvplan
