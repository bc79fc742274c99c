// SPDX-License-Identifier: Apache-2.0
#include "cost/prefill.h"

#include <algorithm>

namespace kvplan {
namespace {

// Weights that the tokens of a prompt can reach: each may choose other experts.
Bytes reachable(const RankTerms& rank, const Passes& passes) {
  Bytes sum = rank.vectors + std::min(rank.tables, rank.table_row * passes.tokens);
  for (const Product& p : rank.products) {
    const bool routed = p.role == Role::routed_expert;
    const std::int64_t met =
        routed ? std::min(p.experts, checked_mul(passes.pooled, p.active)) : p.experts;
    sum += Bytes(mul_div(p.bytes.n, met, p.experts));
  }
  return sum;
}

void note(const RankPrefill& p, Trace& trace) {
  trace.note("flops of one GPU = products with weights + causal scores and values",
             {{"products", p.products, "flop"}, {"attention", p.attention, "flop"}},
             p.products + p.attention, "flop");
  trace.note("arithmetic time = flops / fastest peak for each format", {}, p.compute.v, "s");
  trace.note("memory time = (weights + cache written - last-level cache) / bandwidth",
             {{"weights", p.weights.real(), "B"}, {"written", p.written.real(), "B"}}, p.memory.v,
             "s");
  if (p.link.v > 0)
    trace.note("link time = bytes that must cross / rate per direction", {}, p.link.v, "s");
}

}  // namespace

Bound RankPrefill::bound() const {
  return total() == compute ? Bound::compute : total() == memory ? Bound::bandwidth : Bound::link;
}

PromptLoad prompt_load(const Deployment& deployment, Tokens prompt, std::int64_t batch) {
  const Parallelism& p = deployment.parallel;
  PromptLoad load;
  load.past = {prompt, std::min(deployment.shared_prefix, prompt - Tokens(1)),
               deployment.source_tokens};
  load.sequences = ceil_div(batch, p.dp);
  const auto distinct = [&](std::int64_t sequences) {
    const std::int64_t own = (prompt - load.past.shared).n;
    return checked_add(load.past.shared.n, checked_mul(own, sequences));
  };
  load.passes = {distinct(load.sequences), distinct(p.pooled(batch)), load.sequences};
  return load;
}

std::vector<Portion> prefill_portions(const RankTerms& rank, const DeviceSpec& device,
                                      const PromptLoad& load) {
  auto portions = weight_portions(rank, device, load.passes);
  for (const CacheTerm& cache : rank.caches)
    portions.push_back(cache_portion(cache, prompt_use(cache, load.past, load.sequences), device));
  if (rank.mutual_flops_per_pair > 0)
    portions.push_back(mutual_portion(rank, load.past.context, load.sequences, device));
  return portions;
}

RankPrefill prefill_of(const RankTerms& rank, const DeviceSpec& device, const PromptLoad& load) {
  RankPrefill p;
  const auto portions = prefill_portions(rank, device, load);
  const std::size_t caches =
      portions.size() - rank.caches.size() - (rank.mutual_flops_per_pair > 0);
  for (std::size_t i = 0; i < portions.size(); ++i) {
    (i < caches ? p.weights : p.written) += portions[i].bytes;
    (i < caches ? p.products : p.attention) += portions[i].flops.v;
    if (portions[i].arithmetic) p.compute += *portions[i].arithmetic;
  }
  const Bytes kept = device.last_level_cache ? device.last_level_cache->value : Bytes(0);
  p.memory = std::max(Bytes(0), p.weights + p.written - kept) / device.bandwidth.value;
  if (device.peer)
    p.link = std::max(rank.crossing_per_token * load.passes.tokens,
                      rank.crossing_per_pooled_token * load.passes.pooled) /
             device.peer->per_direction.value;
  return p;
}

Prefill prefill(const ModelSpec& model, const Deployment& deployment, const DeviceSpec& device,
                Tokens prompt, std::int64_t batch, Trace* trace) {
  const PromptLoad load = prompt_load(deployment, prompt, batch);
  const std::int64_t ranks = deployment.parallel.tp;
  Prefill result;
  Seconds slowest;
  for (const RankTerms& rank : rank_terms(model, deployment)) {
    const RankPrefill p = prefill_of(rank, device, load);
    if (p.total() >= slowest) slowest = p.total(), result.bound = p.bound();
    result.weight_bytes += reachable(rank, load.passes) * ranks;
    result.kv_bytes += p.written * ranks;
    result.flops += Flops((p.products + p.attention) * static_cast<double>(ranks));
    result.attention_flops += Flops(p.attention * static_cast<double>(ranks));
    if (trace) note(p, *trace);
  }
  // A prompt in chunks may keep every stage busy, so pipeline stages bound by the slowest alone.
  if (device.bandwidth.value.v > 0 && slowest.v > 0) result.seconds = slowest;
  if (trace && result.seconds)
    trace->note("time to the first token = the longest of these times, over all GPUs", {},
                slowest.v, "s");
  return result;
}

}  // namespace kvplan
