// SPDX-License-Identifier: Apache-2.0
#include "cost/rank.h"

#include <algorithm>

#include "cost/weight_fold.h"

namespace kvplan {
namespace {

// ---- links

// Partial sums of one layer: after the mixer and after the feed-forward, or one for both where the
// block is parallel (a single norm). Experts that stay whole send tokens instead, which may all
// stay where they are.
std::int64_t reductions_of(const Layer& layer, const ModelSpec& model, const Parallelism& p) {
  bool mixer = false, feed_forward = false;
  int norms = 0;
  for (const Weight& w : layer.weights) {
    mixer = mixer || w.role == Role::attention || w.role == Role::state;
    feed_forward = feed_forward || w.role == Role::mlp || w.role == Role::shared_expert ||
                   (w.role == Role::routed_expert && p.ep == 1);
    norms += w.role == Role::norm && w.rows == model.hidden;
  }
  return mixer && feed_forward && norms > 1 ? 2 : mixer || feed_forward;
}

// To know a sum over tp ranks each must receive at least the other ranks' share of it, (tp - 1) /
// tp of a hidden row in 16 bits; no reduction, in the network or out of it, can do with less. A
// pipeline stage receives one row.
Bytes crossing(const ModelSpec& model, const Parallelism& p, std::int64_t reductions) {
  const std::int64_t row = checked_mul(model.hidden, 2);
  const std::int64_t reduced = mul_div(checked_mul(row, reductions), p.tp - 1, p.tp);
  return Bytes(checked_add(reduced, p.pp > 1 ? row : 0));
}

// Ranks that the k experts of a token lie on at least, each rank having E / ep of them whole; none
// where one rank may have them all.
std::int64_t visits_of(const Layer& layer, const Parallelism& p) {
  std::int64_t most = 0;
  for (const Weight& w : layer.weights)
    if (w.role == Role::routed_expert && p.ep > 1)
      most = std::max(most, ceil_div(checked_mul(w.active, p.ep), w.copies));
  return most > 1 ? most : 0;
}

// Whatever the routing, m > 1 ranks work for a token. All but the one where it is must receive its
// row, and one must receive their results: m rows enter GPUs, be they sent one by one or copied and
// summed within the network. As many leave them: its row once, m - 1 results. Rows take 4 bits a
// value at least (NVFP4 both ways: moe_config.use_low_precision_moe_combine of TensorRT-LLM). Sums
// of tp ranks count beside them: all of m ranks then need the sum of attention and all of tp the
// result, one row more than both count.
Bytes pooled_crossing(const ModelSpec& model, const Parallelism& p, const RankTerms& terms) {
  if (terms.visits == 0) return Bytes(0);
  const std::int64_t summed =
      checked_mul(checked_mul(model.hidden, 2), checked_mul(terms.reductions, p.tp - 1));
  const std::int64_t exchanged = checked_mul(model.hidden, terms.visits) / 2;
  return Bytes(checked_add(summed, exchanged) / p.expert_ranks());
}

// Of an encoder's layer: two operations for each number of a key and of a value.
double mutual_flops_per_pair(const Layer& layer) {
  const auto* a = std::get_if<Attention>(&layer.mixer.kind);
  if (layer.mixer.causal || !a) return 0;
  return 2.0 * static_cast<double>(checked_mul(a->heads, a->k_width + a->v_width));
}

// ---- stages

std::vector<std::int64_t> indices_of(const ModelSpec& model, Layer::Role role) {
  std::vector<std::int64_t> indices;
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    if (model.layers[i].role == role) indices.push_back(static_cast<std::int64_t>(i));
  return indices;
}

const Layer& layer_at(const ModelSpec& model, std::int64_t i) {
  return model.layers[static_cast<std::size_t>(i)];
}

// Tables, towers and encoders live on the first stage, norm and head on the last. A tied head is
// the token table, the first table of `ends`; with pipeline stages the last one holds its own copy.
void add_ends(WeightFold& fold, const ModelSpec& model, bool first, bool last) {
  bool tied = model.tied_head;
  for (const Weight& w : model.ends) {
    const bool table = w.role == Role::embedding;
    if (table ? first : last) fold.add(w, nullptr);
    if (!table || !tied) continue;
    tied = false;
    if (last) fold.add_tied_head(w, first);
  }
  if (!first) return;
  for (const Weight& w : model.vision) fold.add(w, nullptr);
  for (const std::int64_t i : indices_of(model, Layer::encoder))
    for (const Weight& w : layer_at(model, i).weights) fold.hold(w, &layer_at(model, i).mixer);
}

}  // namespace

std::vector<RankTerms> rank_terms(const ModelSpec& model, const Deployment& deployment) {
  const Parallelism& p = deployment.parallel;
  validate(model, p);
  const auto groups = cache_groups(model, deployment.cache);
  const std::vector<std::int64_t> mains = indices_of(model, Layer::main);
  std::vector<RankTerms> stages(static_cast<std::size_t>(p.pp));
  for (std::int64_t s = 0; s < p.pp; ++s) {
    RankTerms& terms = stages[static_cast<std::size_t>(s)];
    WeightFold fold(terms, p);
    const auto [first, end] = stage_layers(static_cast<std::int64_t>(mains.size()), p.pp, s);
    terms.layers = end - first;
    for (std::int64_t i = first; i < end; ++i) {
      const Layer& layer = layer_at(model, mains[static_cast<std::size_t>(i)]);
      for (const Weight& w : layer.weights) fold.add(w, &layer.mixer);
      terms.reductions += reductions_of(layer, model, p);
      terms.visits += visits_of(layer, p);
      terms.mutual_flops_per_pair += mutual_flops_per_pair(layer) / static_cast<double>(p.tp);
    }
    add_ends(fold, model, s == 0, s == p.pp - 1);
    terms.crossing_per_token = crossing(model, p, terms.reductions);
    terms.crossing_per_pooled_token = pooled_crossing(model, p, terms);
    if (first == end) continue;
    const std::int64_t from = mains[static_cast<std::size_t>(first)];
    const std::int64_t to = mains[static_cast<std::size_t>(end - 1)] + 1;
    for (const CacheGroup& group : groups)
      terms.caches.push_back(cache_term(group, model, p, from, to));
  }
  return stages;
}

Bytes resident_on_fullest_gpu(const ModelSpec& model, const Parallelism& parallel) {
  Deployment deployment;
  deployment.parallel = parallel;
  Bytes most;
  for (const RankTerms& stage : rank_terms(model, deployment))
    most = std::max(most, stage.resident);
  return most;
}

}  // namespace kvplan
