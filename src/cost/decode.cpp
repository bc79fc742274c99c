// SPDX-License-Identifier: Apache-2.0
#include "cost/decode.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cost/rank.h"

namespace kvplan {
namespace {

// What bounds one rank of one stage for one step.
struct RankStep {
  Bytes weights, cache;
  double flops = 0;
  Seconds memory, compute, link;
  bool cached = false;  // everything stays in the last-level cache between steps
  Seconds total() const { return std::max({memory, compute, link}); }
};

// Share of E experts that B tokens reach when each chooses k of them uniformly: 1 - (1 - k/E)^B.
double reached(const ExpertTerm& term, std::int64_t tokens) {
  const double skip = 1 - static_cast<double>(term.active) / static_cast<double>(term.experts);
  return 1 - std::pow(skip, static_cast<double>(tokens));
}

}  // namespace

struct DecodeModel::Terms {
  std::vector<RankTerms> stages;
  std::vector<double> seconds_per_token;  // arithmetic with weights, per stage
  std::vector<double> flops_per_token;
  std::optional<double> attention_rate;  // flop/s
  BytesPerSecond bandwidth;
  Bytes last_level_cache;
  std::optional<BytesPerSecond> link;
  bool knows_compute = true;
  bool has_experts = false;
  std::int64_t tp = 1, dp = 1;
  Tokens prefix, source;

  RankStep rank_step(std::size_t stage, Tokens context, std::int64_t batch,
                     std::optional<std::int64_t> typical) const;
  Seconds step(Tokens context, std::int64_t batch, std::optional<std::int64_t> typical,
               Bound* bound) const;
};

DecodeModel::DecodeModel(const ModelSpec& model, const Deployment& deployment,
                         const DeviceSpec& device)
    : terms_(std::make_unique<Terms>()) {
  Terms& t = *terms_;
  t.stages = rank_terms(model, deployment);
  t.bandwidth = device.bandwidth.value;
  if (device.last_level_cache) t.last_level_cache = device.last_level_cache->value;
  if (device.peer) t.link = device.peer->per_direction.value;
  t.tp = deployment.parallel.tp;
  t.dp = deployment.parallel.dp;
  t.prefix = deployment.shared_prefix;
  t.source = deployment.source_tokens;
  const Format* cache_format = deployment.cache.key ? deployment.cache.key : &format_named("bf16");
  if (const auto rate = device.peak_for(*cache_format)) t.attention_rate = rate->v;
  for (const RankTerms& stage : t.stages) {
    double seconds = 0, flops = 0;
    const auto add = [&](const Format* format, double amount) {
      if (amount == 0) return;
      flops += amount;
      const auto rate = device.peak_for(*format);
      if (rate)
        seconds += amount / rate->v;
      else
        t.knows_compute = false;
    };
    for (const ProductTerm& product : stage.products) add(product.format, product.flops_per_token);
    if (stage.head_format) add(stage.head_format, stage.head_flops_per_token);
    t.seconds_per_token.push_back(seconds);
    t.flops_per_token.push_back(flops);
    t.has_experts = t.has_experts || !stage.experts.empty();
  }
}

DecodeModel::~DecodeModel() = default;
DecodeModel::DecodeModel(DecodeModel&&) noexcept = default;

// `typical`: tokens that choose experts; empty for the ceiling, where all tokens agree on the same
// k experts.
RankStep DecodeModel::Terms::rank_step(std::size_t s, Tokens context, std::int64_t batch,
                                       std::optional<std::int64_t> typical) const {
  const RankTerms& rank = stages[s];
  RankStep step;
  step.weights = rank.dense + rank.table_row * batch;
  for (const ExpertTerm& term : rank.experts)
    step.weights +=
        typical ? Bytes(static_cast<std::int64_t>(term.bytes.real() * reached(term, *typical)))
                : Bytes(mul_div(term.bytes.n, term.active, term.experts));
  double attention = 0;
  const Tokens shared = std::min(prefix, context);
  for (const CacheTerm& cache : rank.caches) {
    const std::int64_t entries = read_entries(cache.group, context, source);
    // Positions that all sequences share are read once for the batch, where the group keeps them at
    // all.
    const bool whole = entries == stored_entries(cache.group, context, source) &&
                       cache.group.kind != CacheGroup::window;
    const std::int64_t common =
        whole ? std::min(entries, stored_entries(cache.group, shared, source)) : 0;
    const std::int64_t distinct = checked_add(common, checked_mul(entries - common, batch));
    step.cache += cache.read_per_entry * ceil_div(distinct, cache.dcp) +
                  cache.written_per_entry * (batch / cache.tokens_per_entry) + cache.state * batch;
    attention += cache.flops_per_entry * static_cast<double>(entries) * static_cast<double>(batch) /
                 static_cast<double>(cache.dcp);
  }
  step.flops = flops_per_token[s] * static_cast<double>(batch) + attention;
  const Bytes distinct = step.weights + step.cache;
  step.cached = distinct <= last_level_cache;
  step.memory = (step.cached ? Bytes(0) : distinct - last_level_cache) / bandwidth;
  step.compute = Seconds(seconds_per_token[s] * static_cast<double>(batch));
  if (attention_rate) step.compute += Seconds(attention / *attention_rate);
  if (link && rank.crossing_per_token.n > 0) step.link = rank.crossing_per_token * batch / *link;
  return step;
}

// Every stage must do its part of each step (a maximum), and no token can pass the stages faster
// than alone (a sum).
Seconds DecodeModel::Terms::step(Tokens context, std::int64_t batch,
                                 std::optional<std::int64_t> typical, Bound* bound) const {
  Seconds slowest, alone;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const RankStep step = rank_step(s, context, batch, typical);
    if (const Seconds total = step.total(); total > slowest || s == 0) {
      slowest = total;
      if (bound)
        *bound = total == step.memory && !step.cached ? Bound::bandwidth
                 : total == step.link                 ? Bound::link
                 : step.cached                        ? Bound::cache
                                                      : Bound::compute;
    }
    if (stages.size() > 1)
      alone +=
          rank_step(s, context, 1, typical ? std::optional<std::int64_t>(1) : std::nullopt).total();
  }
  return std::max(slowest, alone);
}

Step DecodeModel::at(Tokens context, std::int64_t batch, Trace* trace) const {
  const Terms& t = *terms_;
  const std::int64_t local = ceil_div(batch, t.dp);  // sequences of one replica
  Step result;
  double flops = 0;
  for (std::size_t s = 0; s < t.stages.size(); ++s) {
    const RankStep rank = t.rank_step(s, context, local, std::nullopt);
    result.weight_bytes += rank.weights * t.tp;
    result.kv_bytes += rank.cache * t.tp;
    flops += rank.flops * static_cast<double>(t.tp);
    if (!trace) continue;
    trace->note("bytes read by one GPU = weights + cache",
                {{"weights", rank.weights.real()}, {"cache", rank.cache.real()}},
                (rank.weights + rank.cache).real(), "B");
    trace->note("memory time = (bytes - last-level cache) / bandwidth",
                {{"last-level cache", t.last_level_cache.real()}, {"bandwidth", t.bandwidth.v}},
                rank.memory.v, "s");
    trace->note("arithmetic time = flops / fastest peak for each format", {{"flops", rank.flops}},
                rank.compute.v, "s");
    if (rank.link.v > 0)
      trace->note("link time = bytes that must cross / rate per direction",
                  {{"bytes", (t.stages[s].crossing_per_token * local).real()}, {"rate", t.link->v}},
                  rank.link.v, "s");
  }
  result.flops = Flops(flops);
  result.seconds = t.step(context, local, std::nullopt, &result.bound);
  if (t.has_experts) result.typical_seconds = t.step(context, local, batch, nullptr);
  if (trace) trace->note("step = the largest of these, over all GPUs", {}, result.seconds->v, "s");
  return result;
}

std::optional<std::int64_t> DecodeModel::crossover_batch(Tokens context) const {
  constexpr std::int64_t kMost = 1 << 20;
  const auto weights_bind = [&](std::int64_t batch) {
    const RankStep rank = terms_->rank_step(0, context, batch, std::nullopt);
    return rank.total() == rank.memory && rank.weights >= rank.cache;
  };
  if (!weights_bind(1)) return 1;
  std::int64_t good = 1, bad = 2;
  while (bad <= kMost && weights_bind(bad)) good = bad, bad *= 2;
  if (bad > kMost) return std::nullopt;
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (weights_bind(middle) ? good : bad) = middle;
  }
  return bad;
}

std::optional<Tokens> DecodeModel::crossover_context(std::int64_t batch) const {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  const auto cache_passes = [&](std::int64_t n) {
    const RankStep rank = terms_->rank_step(0, Tokens(n), batch, std::nullopt);
    return rank.cache > rank.weights;
  };
  if (!cache_passes(kMost)) return std::nullopt;
  std::int64_t low = 0, high = kMost;  // passes at high, not yet below low
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (cache_passes(middle) ? high : low) = middle;
  }
  return Tokens(high);
}

}  // namespace kvplan
