// SPDX-License-Identifier: Apache-2.0
#include "plan/replication.h"

#include <algorithm>

#include "cost/prefill.h"
#include "cost/rank.h"
#include "engine/stages.h"
#include "model/parameters.h"

namespace kvplan {
namespace {

constexpr Role kRoles[] = {
    Role::embedding,     Role::head,   Role::attention,     Role::state, Role::mlp,
    Role::shared_expert, Role::router, Role::routed_expert, Role::norm,  Role::vision};

// The model with the weights of one role alone.
ModelSpec only(const ModelSpec& model, Role role) {
  ModelSpec part = model;
  const auto drop = [&](std::vector<Weight>& weights) {
    std::erase_if(weights, [&](const Weight& w) { return w.role != role; });
  };
  for (Layer& layer : part.layers) drop(layer.weights);
  drop(part.ends);
  drop(part.vision);
  part.tied_head = model.tied_head && role == Role::embedding;
  return part;
}

void add_weights(const Setup& setup, std::vector<StoredPart>& parts) {
  const Parallelism& p = setup.deployment.parallel;
  for (const Role role : kRoles) {
    const ModelSpec part = only(setup.model, role);
    StoredPart stored{name_of(role), resident_weights(part), {}, {}};
    if (stored.once.n == 0) continue;
    Deployment spread = setup.deployment;
    if (role != Role::routed_expert) spread.parallel.ep = 1;  // which a part without is refused
    for (const RankTerms& stage : rank_terms(part, spread)) {
      stored.per_gpu = std::max(stored.per_gpu, stage.resident);
      stored.all += stage.resident * checked_mul(p.tp, p.dp);
    }
    parts.push_back(stored);
  }
}

std::int64_t layers_between(const std::vector<int>& layers, std::int64_t first, std::int64_t end) {
  return std::count_if(layers.begin(), layers.end(), [&](int i) { return i >= first && i < end; });
}

void add_caches(const Setup& setup, const Load& load, std::vector<StoredPart>& parts) {
  const Parallelism& p = setup.deployment.parallel;
  const Tokens source = setup.deployment.source_tokens;
  const auto mains = static_cast<std::int64_t>(main_layers(setup.model).size());
  const std::int64_t here = ceil_div(load.batch, p.dp);  // sequences of the fullest replica
  for (const CacheGroup& group : cache_groups(setup.model, setup.deployment.cache)) {
    const auto owners = static_cast<std::int64_t>(group.layers.size());
    if (owners == 0) continue;
    const Bytes whole = stored_bytes(group, load.context, source);
    const Bytes rank = stored_bytes(group, load.context, source, {p.tp, p.dcp});
    StoredPart stored{name_of_cache(group.kind), whole * load.batch, {}, {}};
    for (std::int64_t s = 0; s < p.pp; ++s) {
      const auto [first, end] = stage_layers(mains, p.pp, s);
      const Bytes stage(mul_div(rank.n, layers_between(group.layers, first, end), owners));
      stored.per_gpu = std::max(stored.per_gpu, stage * here);
      stored.all += stage * checked_mul(load.batch, p.tp);
    }
    parts.push_back(stored);
  }
}

std::int64_t experts_met(const ModelSpec& model) {  // per token, summed over layers
  std::int64_t met = 0;
  for (const Layer* layer : main_layers(model)) {
    std::int64_t most = 0;
    for (const Weight& w : layer->weights)
      if (w.role == Role::routed_expert) most = std::max(most, w.active);
    met += most;
  }
  return met;
}

std::int64_t layers_with_experts(const ModelSpec& model) {
  std::int64_t n = 0;
  for (const Layer* layer : main_layers(model)) n += has_experts(*layer);
  return n;
}

}  // namespace

std::vector<StoredPart> stored_parts(const Setup& setup, const Load& load) {
  std::vector<StoredPart> parts;
  add_weights(setup, parts);
  add_caches(setup, load, parts);
  return parts;
}

std::vector<Crossing> crossings(const Setup& setup, const Load& load) {
  const Parallelism& p = setup.deployment.parallel;
  const std::int64_t row = checked_mul(setup.model.hidden, 2);
  const std::int64_t tokens = ceil_div(load.batch, p.dp);  // of one replica
  std::vector<Crossing> found;
  const auto add = [&](Crossing::Kind kind, std::int64_t times, Bytes bytes, Bytes least) {
    if (bytes.n == 0) return;
    Crossing c{kind, times, bytes, {}, least};
    if (setup.device && setup.device->peer)
      c.seconds = bytes / setup.device->peer->per_direction.value;
    found.push_back(c);
  };
  std::int64_t reductions = 0;  // of the stage with most
  std::int64_t visits = 0;      // likewise
  for (const RankTerms& stage : rank_terms(setup.model, setup.deployment)) {
    reductions = std::max(reductions, stage.reductions);
    visits = std::max(visits, stage.visits);
  }
  const Bytes summed(checked_mul(mul_div(checked_mul(row, reductions), p.tp - 1, p.tp), tokens));
  add(Crossing::all_reduce, reductions, summed, summed);
  if (p.ep > 1) {
    // Each of a rank's tokens goes to the ranks of its experts and comes back; one in ep stays.
    const std::int64_t mine = ceil_div(load.batch, checked_mul(p.tp, p.dp));
    const std::int64_t rows = mul_div(checked_mul(mine, experts_met(setup.model)), p.ep - 1, p.ep);
    add(Crossing::all_to_all, 2 * ceil_div(layers_with_experts(setup.model), p.pp),
        Bytes(ceil_div(checked_mul(checked_mul(rows, 2), row), p.pp)),
        Bytes(mul_div(checked_mul(setup.model.hidden, visits), p.pooled(load.batch),
                      checked_mul(2, p.expert_ranks()))));
  }
  const Bytes handed(p.pp > 1 ? checked_mul(row, tokens) : 0);
  add(Crossing::stage, 1, handed, handed);
  return found;
}

std::vector<Transfer> transfers(const Setup& setup, Tokens context) {
  const DeviceSpec& device = setup.device.value();
  const Parallelism& p = setup.deployment.parallel;
  const auto held = [&](const std::vector<CacheGroup>& stage) {
    return over_stages(stage, [&](const CacheGroup& group) {
      return stored_bytes(group, context, setup.deployment.source_tokens, {p.tp, p.dcp});
    });
  };
  const Bytes bytes = fullest(groups_of_stages(setup.model, setup.deployment), held);
  std::vector<Transfer> found;
  const auto over = [&](Transfer::Path path, const std::optional<Link>& link) {
    if (link) found.push_back({path, link->kind, bytes, bytes / link->per_direction.value});
  };
  over(Transfer::peer, device.peer);
  over(Transfer::host, device.host);
  if (context.n >= 1)
    if (const auto again = prefill(setup.model, setup.deployment, device, context, 1).seconds)
      found.push_back({Transfer::recompute, {}, bytes, *again});
  return found;
}

}  // namespace kvplan
