// SPDX-License-Identifier: Apache-2.0
#include "cost/breakdown.h"

#include <algorithm>

#include "cost/prefill.h"
#include "cost/stage.h"

namespace kvplan {
namespace {

void price(Portion& p, const DeviceSpec& device) {
  p.memory = p.bytes / device.bandwidth.value;
  if (!p.format) return;
  const auto peak = device.peak_for(*p.format);
  if (!peak) return;
  p.arithmetic = p.flops / *peak;
  p.ridge = peak->v / device.bandwidth.value.v;
}

void merge(std::vector<Portion>& portions, const Portion& more) {
  for (Portion& p : portions)
    if (p.what == more.what && p.format == more.format) {
      p.bytes += more.bytes;
      p.flops += more.flops;
      return;
    }
  portions.push_back(more);
}

Portion product_portion(const Product& product, const Passes& passes) {
  const bool routed = product.role == Role::routed_expert;
  const std::int64_t rows = routed                       ? passes.pooled
                            : product.role == Role::head ? passes.heads
                                                         : passes.tokens;
  Portion p;
  p.what = name_of(product.role);
  p.format = product.format;
  p.bytes =
      routed ? Bytes(mul_div(product.bytes.n, product.active, product.experts)) : product.bytes;
  p.flops = Flops(product.flops_per_token * static_cast<double>(rows));
  return p;
}

// The stage that takes longest by `seconds`.
template <class SecondsOf>
std::size_t slowest(std::size_t stages, SecondsOf seconds) {
  std::size_t most = 0;
  for (std::size_t s = 1; s < stages; ++s)
    if (seconds(s) > seconds(most)) most = s;
  return most;
}

}  // namespace

std::vector<Portion> weight_portions(const RankTerms& rank, const DeviceSpec& device,
                                     const Passes& passes) {
  std::vector<Portion> portions;
  Portion table;
  table.what = name_of(Role::embedding);
  table.bytes = std::min(rank.tables, rank.table_row * passes.tokens);
  Portion vectors;
  vectors.what = name_of(Role::norm);
  vectors.bytes = rank.vectors;
  if (table.bytes.n > 0) portions.push_back(table);
  for (const Product& product : rank.products) merge(portions, product_portion(product, passes));
  portions.push_back(vectors);
  for (Portion& p : portions) price(p, device);
  return portions;
}

Portion cache_portion(const CacheTerm& cache, const CacheUse& use, const DeviceSpec& device) {
  Portion p;
  p.what = name_of_cache(cache.group.kind);
  p.format = cache.fastest;
  p.bytes = use.bytes;
  p.flops = Flops(use.flops);
  price(p, device);
  return p;
}

Portion mutual_portion(const RankTerms& rank, Tokens text, std::int64_t sequences,
                       const DeviceSpec& device) {
  const double length = static_cast<double>(text.n);
  Portion p;
  p.what = "scores and values";
  p.format = &format_named("fp16");
  p.flops = Flops(rank.mutual_flops_per_pair * length * length * static_cast<double>(sequences));
  price(p, device);
  return p;
}

std::vector<Portion> decode_breakdown(const ModelSpec& model, const Deployment& deployment,
                                      const DeviceSpec& device, Tokens context,
                                      std::int64_t batch) {
  const Parallelism& parallel = deployment.parallel;
  const BatchShare share{ceil_div(batch, parallel.dp), parallel.pooled(batch)};
  const auto ranks = rank_terms(model, deployment);
  const RankTerms& rank = ranks[slowest(ranks.size(), [&](std::size_t s) {
    return Stage(ranks[s], deployment, device).step(context, share).total();
  })];
  auto portions = weight_portions(rank, device, {share.local, share.pooled, share.local});
  const Past past{context, deployment.shared_prefix, deployment.source_tokens};
  for (const CacheTerm& cache : rank.caches)
    portions.push_back(cache_portion(cache, step_use(cache, past, share.local), device));
  return portions;
}

std::vector<Portion> prefill_breakdown(const ModelSpec& model, const Deployment& deployment,
                                       const DeviceSpec& device, Tokens prompt,
                                       std::int64_t batch) {
  const auto ranks = rank_terms(model, deployment);
  const PromptLoad load = prompt_load(deployment, prompt, batch);
  return prefill_portions(
      ranks[slowest(ranks.size(),
                    [&](std::size_t s) { return prefill_of(ranks[s], device, load).total(); })],
      device, load);
}

}  // namespace kvplan
