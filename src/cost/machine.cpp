// SPDX-License-Identifier: Apache-2.0
#include "cost/machine.h"

#include <algorithm>

#include "cost/weight_fold.h"

namespace kvplan {
namespace {

// The group as far as its layers' caches lie on one part.
CacheGroup on_part(CacheGroup group, const Assignment& where, std::size_t part) {
  const auto elsewhere = [&](int layer) {
    return where.caches[static_cast<std::size_t>(layer)] != part;
  };
  std::erase_if(group.layers, elsewhere);
  std::erase_if(group.readers, elsewhere);
  return group;
}

// Table on its part, norm and head on the output's; a tied head is the table again, a copy of it
// where the parts differ.
void add_ends(std::vector<WeightFold>& folds, const ModelSpec& model, const Assignment& where) {
  bool tied = model.tied_head;
  for (const Weight& w : model.ends) {
    const bool table = w.role == Role::embedding;
    folds[table ? where.table : where.output].add(w, nullptr);
    if (table && tied) {
      folds[where.output].add_tied_head(w, where.table == where.output);
      tied = false;
    }
  }
  for (const Weight& w : model.vision) folds[where.vision].add(w, nullptr);
}

}  // namespace

std::size_t Assignment::runs(const ModelSpec& model, std::size_t layer) const {
  const std::vector<Weight>& held = model.layers[layer].weights;
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i].role != Role::routed_expert && held[i].is_matrix) return weights[layer][i];
  return caches[layer];
}

std::vector<RankTerms> part_terms(const ModelSpec& model, const Deployment& deployment,
                                  const Assignment& where) {
  const Parallelism whole;  // parts hold whole weights
  std::vector<RankTerms> terms(where.parts);
  std::vector<WeightFold> folds;
  folds.reserve(terms.size());
  for (RankTerms& t : terms) folds.emplace_back(t, whole);
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    if (where.unloaded[i]) continue;
    for (std::size_t k = 0; k < layer.weights.size(); ++k) {
      WeightFold& fold = folds[where.weights[i][k]];
      if (layer.role == Layer::main)
        fold.add(layer.weights[k], &layer.mixer);
      else
        fold.hold(layer.weights[k], &layer.mixer);
    }
  }
  add_ends(folds, model, where);
  const auto groups = cache_groups(model, deployment.cache);
  for (std::size_t p = 0; p < where.parts; ++p)
    for (const CacheGroup& group : groups)
      if (CacheGroup own = on_part(group, where, p); !own.readers.empty())
        terms[p].caches.push_back(
            cache_term(own, model, whole, 0, static_cast<std::int64_t>(model.layers.size())));
  return terms;
}

std::vector<std::int64_t> crossings(const ModelSpec& model, const Assignment& where) {
  std::vector<std::int64_t> counts(where.parts);
  std::size_t at = where.table;
  const auto visit = [&](std::size_t part) {
    if (part == at) return;
    ++counts[at];
    ++counts[part];
    at = part;
  };
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const Layer& layer = model.layers[i];
    if (layer.role != Layer::main) continue;
    const std::size_t home = where.runs(model, i);
    visit(home);
    if (!layer.mixer.reach.empty()) visit(where.caches[i]);
    visit(home);
    for (std::size_t k = 0; k < layer.weights.size(); ++k)
      if (layer.weights[k].role == Role::routed_expert) visit(where.weights[i][k]);
    visit(home);
  }
  visit(where.output);
  return counts;
}

}  // namespace kvplan
