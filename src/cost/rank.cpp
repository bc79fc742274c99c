// SPDX-License-Identifier: Apache-2.0
#include "cost/rank.h"

#include <algorithm>

namespace kvplan {
namespace {

std::int64_t kv_heads_of(const Mixer& mixer) {
  const auto* attention = std::get_if<Attention>(&mixer.kind);
  return attention ? attention->kv_heads : 1;
}

// A rank holds one part in so many of a weight.
std::int64_t divisor(const Weight& w, const Mixer* mixer, const Parallelism& p) {
  if (w.role == Role::routed_expert) return p.expert_ranks();
  if (w.sharding == Sharding::replicated) return 1;
  if (w.sharding == Sharding::kv_heads && mixer) return std::min(p.tp, kv_heads_of(*mixer));
  return p.tp;
}

// Products whose inputs are divided, so that their outputs are partial sums.
bool divides_inputs(const Weight& w) {
  for (const std::string_view last : {"o_proj", "down_proj", "out_proj", "wo_b", "fc2"})
    if (w.name.ends_with(last)) return true;
  return false;
}

// Keys and values of cross-attention are computed once per request, not by each step.
bool only_source(const Mixer& mixer) {
  return !mixer.reach.empty() &&
         std::all_of(mixer.reach.begin(), mixer.reach.end(),
                     [](const Reach& r) { return std::holds_alternative<Source>(r); });
}

// Adds weights to the terms of one rank.
class Fold {
 public:
  Fold(RankTerms& terms, const Parallelism& parallel) : terms_(terms), parallel_(parallel) {}

  void add(const Weight& w, const Mixer* mixer) {
    const Bytes bytes = bytes_on_rank(w, mixer);
    terms_.resident += bytes;
    if (w.role == Role::vision) return;
    if (mixer && w.sharding == Sharding::kv_heads && only_source(*mixer)) return;
    if (w.role == Role::embedding && !w.is_matrix) {
      terms_.tables += bytes;
      terms_.table_row += Bytes(bytes.n / std::max<std::int64_t>(1, w.rows));
    } else if (w.is_matrix) {
      add_product(w, w.role, divisor(w, mixer, parallel_), bytes);
    } else {
      terms_.vectors += bytes;
    }
  }

  // The token table as the head: read like a matrix, held where it is not held already.
  void add_tied_head(const Weight& table, bool held) {
    const Bytes bytes = bytes_on_rank(table, nullptr);
    if (!held) terms_.resident += bytes;
    add_product(table, Role::head, divisor(table, nullptr, parallel_), bytes);
  }

  void hold(const Weight& w, const Mixer* mixer) { terms_.resident += bytes_on_rank(w, mixer); }

 private:
  Bytes bytes_on_rank(const Weight& w, const Mixer* mixer) const {
    const Bytes whole = stored_bytes(*w.format, w.rows, w.columns) * w.copies;
    return Bytes(ceil_div(whole.n, divisor(w, mixer, parallel_)));
  }

  void add_product(const Weight& w, Role role, std::int64_t parts, Bytes bytes) {
    // Whole experts stay whole under expert parallelism.
    const std::int64_t cut = role == Role::routed_expert
                                 ? std::max<std::int64_t>(1, parallel_.tp / parallel_.ep)
                                 : parts;
    Product p;
    p.role = role;
    p.format = w.format;
    p.rows = divides_inputs(w) ? w.rows : ceil_div(w.rows, cut);
    p.columns = divides_inputs(w) ? ceil_div(w.columns, cut) : w.columns;
    p.experts = w.copies;
    p.active = w.active;
    p.bytes = bytes;
    p.flops_per_token = 2.0 * static_cast<double>(w.rows) * static_cast<double>(w.columns) *
                        static_cast<double>(w.active) / static_cast<double>(parts);
    for (Product& known : terms_.products)
      if (known.role == p.role && known.format == p.format && known.rows == p.rows &&
          known.columns == p.columns && known.experts == p.experts && known.active == p.active) {
        ++known.count;
        known.bytes += p.bytes;
        known.flops_per_token += p.flops_per_token;
        return;
      }
    terms_.products.push_back(p);
  }

  RankTerms& terms_;
  const Parallelism& parallel_;
};

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
void add_ends(Fold& fold, const ModelSpec& model, bool first, bool last) {
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
    Fold fold(terms, p);
    const auto [first, end] = stage_layers(static_cast<std::int64_t>(mains.size()), p.pp, s);
    terms.layers = end - first;
    for (std::int64_t i = first; i < end; ++i) {
      const Layer& layer = layer_at(model, mains[static_cast<std::size_t>(i)]);
      for (const Weight& w : layer.weights) fold.add(w, &layer.mixer);
      terms.reductions += reductions_of(layer, model, p);
    }
    add_ends(fold, model, s == 0, s == p.pp - 1);
    terms.crossing_per_token = crossing(model, p, terms.reductions);
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
