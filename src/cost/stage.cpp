// SPDX-License-Identifier: Apache-2.0
#include "cost/stage.h"

#include <algorithm>
#include <cmath>

namespace kvplan {

double share_reached(std::int64_t experts, std::int64_t active, std::int64_t tokens) {
  const double skip = 1 - static_cast<double>(active) / static_cast<double>(experts);
  return 1 - std::pow(skip, static_cast<double>(tokens));
}

Bound StageStep::bound() const {
  const Seconds t = total();
  if (t == memory && !cached) return Bound::bandwidth;
  if (t.v == 0) return Bound::cache;
  return t == link ? Bound::link : Bound::compute;
}

Stage::Stage(const RankTerms& rank, const Deployment& deployment, const DeviceSpec& device)
    : dense_(rank.vectors),
      table_row_(rank.table_row),
      crossing_per_token_(rank.crossing_per_token),
      crossing_per_pooled_token_(rank.crossing_per_pooled_token),
      bandwidth_(device.bandwidth.value),
      prefix_(deployment.shared_prefix),
      source_(deployment.source_tokens) {
  if (device.last_level_cache) last_level_cache_ = device.last_level_cache->value;
  if (device.peer) link_ = device.peer->per_direction.value;
  for (const Product& product : rank.products) add(product, device);
  for (const CacheTerm& term : rank.caches)
    caches_.push_back({term, device.peak_for(*term.fastest)});
}

void Stage::add(const Product& p, const DeviceSpec& device) {
  const bool routed = p.role == Role::routed_expert;
  Arithmetic& arithmetic = routed ? per_pooled_token_ : per_token_;
  arithmetic.flops += p.flops_per_token;
  if (const auto peak = device.peak_for(*p.format))
    arithmetic.seconds += Flops(p.flops_per_token) / *peak;
  if (!routed) {
    dense_ += p.bytes;
    return;
  }
  for (Experts& e : experts_)
    if (e.count == p.experts && e.active == p.active) return void(e.bytes += p.bytes);
  experts_.push_back({p.experts, p.active, p.bytes});
}

StageStep Stage::step(Tokens context, BatchShare batch, Trace* trace) const {
  StageStep step;
  Bytes typical_experts;
  step.weights = dense_ + table_row_ * batch.local;
  for (const Experts& e : experts_) {
    // Ceiling: all tokens agree on the same k experts.
    const Bytes least(mul_div(e.bytes.n, e.active, e.count));
    const double share = share_reached(e.count, e.active, batch.pooled);
    step.weights += least;
    typical_experts += Bytes(static_cast<std::int64_t>(e.bytes.real() * share)) - least;
  }
  const auto tokens = static_cast<double>(batch.local), pooled = static_cast<double>(batch.pooled);
  step.flops = per_token_.flops * tokens + per_pooled_token_.flops * pooled;
  step.compute = per_token_.seconds * tokens + per_pooled_token_.seconds * pooled;
  for (const Cache& cache : caches_) {
    const CacheUse use = step_use(cache.term, {context, prefix_, source_}, batch.local);
    step.cache += use.bytes;
    step.flops += use.flops;
    if (cache.peak) step.compute += Flops(use.flops) / *cache.peak;
  }

  const auto memory = [&](Bytes distinct) {
    return std::max(Bytes(0), distinct - last_level_cache_) / bandwidth_;
  };
  const Bytes distinct = step.weights + step.cache;
  step.cached = distinct <= last_level_cache_;
  step.memory = memory(distinct);
  step.typical_memory = memory(distinct + typical_experts);
  if (link_)
    step.link =
        std::max(crossing_per_token_ * batch.local, crossing_per_pooled_token_ * batch.pooled) /
        *link_;
  if (trace) explain(step, context, batch, *trace);
  return step;
}

void Stage::explain(const StageStep& step, Tokens context, BatchShare batch, Trace& trace) const {
  const auto tokens = static_cast<double>(batch.local), pooled = static_cast<double>(batch.pooled);
  const Bytes rows = table_row_ * batch.local;
  trace.note("weights read = dense + chosen experts + a row of each table per sequence",
             {{"dense", dense_.real(), "B"},
              {"experts", (step.weights - dense_ - rows).real(), "B"},
              {"row", table_row_.real(), "B"},
              {"sequences", tokens, ""}},
             step.weights.real(), "B");
  for (const Cache& cache : caches_)
    trace.note(std::string(name_of_cache(cache.term.group.kind)) + " read and written",
               {{"context", context.real(), "tokens"}, {"sequences", tokens, ""}},
               step_use(cache.term, {context, prefix_, source_}, batch.local).bytes.real(), "B");
  trace.note("memory time = (weights + cache - last-level cache) / bandwidth",
             {{"weights", step.weights.real(), "B"},
              {"cache", step.cache.real(), "B"},
              {"last-level cache", last_level_cache_.real(), "B"},
              {"bandwidth", bandwidth_.v, "B/s"}},
             step.memory.v, "s");
  trace.note("flops = per token x sequences + per token x sequences of the experts + attention",
             {{"per token", per_token_.flops, "flop"},
              {"in experts", per_pooled_token_.flops, "flop"},
              {"sequences", tokens, ""},
              {"of the experts", pooled, ""}},
             step.flops, "flop");
  trace.note("arithmetic time = flops / fastest peak for each format", {}, step.compute.v, "s");
  if (step.link.v > 0)
    trace.note("link time = bytes per token x sequences / rate per direction, or of the experts",
               {{"per token", crossing_per_token_.real(), "B"},
                {"sequences", tokens, ""},
                {"with experts", crossing_per_pooled_token_.real(), "B"},
                {"of the experts", pooled, ""},
                {"rate", link_->v, "B/s"}},
               step.link.v, "s");
}

}  // namespace kvplan
