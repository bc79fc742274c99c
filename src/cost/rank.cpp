// SPDX-License-Identifier: Apache-2.0
#include "cost/rank.h"

#include <algorithm>

namespace kvplan {
namespace {

struct Share {  // of a weight on one rank: numerator / denominator
  std::int64_t part = 1, whole = 1;
};

std::int64_t kv_heads_of(const Mixer& mixer) {
  const auto* attention = std::get_if<Attention>(&mixer.kind);
  return attention ? attention->kv_heads : 1;
}

Share share_of(const Weight& w, const Mixer* mixer, const Parallelism& p) {
  if (w.role == Role::routed_expert) return {1, std::max(p.tp, p.ep)};
  if (w.sharding == Sharding::replicated) return {};
  if (w.sharding == Sharding::kv_heads && mixer) return {1, std::min(p.tp, kv_heads_of(*mixer))};
  return {1, p.tp};
}

Bytes bytes_on_rank(const Weight& w, Share share) {
  const Bytes whole = stored_bytes(*w.format, w.rows, w.columns) * w.copies;
  return Bytes(ceil_div(checked_mul(whole.n, share.part), share.whole));
}

double flops_on_rank(const Weight& w, Share share) {
  const double per_copy = 2.0 * static_cast<double>(w.rows) * static_cast<double>(w.columns);
  return per_copy * static_cast<double>(w.active) * static_cast<double>(share.part) /
         static_cast<double>(share.whole);
}

class Fold {
 public:
  Fold(RankTerms& terms, const Parallelism& parallel) : terms_(terms), parallel_(parallel) {}

  void add(const Weight& w, const Mixer* mixer) {
    const Share share = share_of(w, mixer, parallel_);
    const Bytes bytes = bytes_on_rank(w, share);
    terms_.resident += bytes;
    if (w.role == Role::vision) return;
    if (w.role == Role::embedding && !w.is_matrix) {
      terms_.table_row += Bytes(bytes.n / std::max<std::int64_t>(1, w.rows));
      return;
    }
    if (w.role == Role::head) return add_head(w, bytes, share);
    if (w.role == Role::routed_expert)
      add_experts(w, bytes);
    else
      terms_.dense += bytes;
    if (w.is_matrix) add_product(w.format, flops_on_rank(w, share));
  }

  void add_head(const Weight& w, Bytes bytes, Share share) {
    terms_.head += bytes;
    terms_.dense += bytes;
    terms_.head_format = w.format;
    if (w.is_matrix) terms_.head_flops_per_token += flops_on_rank(w, share);
  }

 private:
  void add_experts(const Weight& w, Bytes bytes) {
    for (ExpertTerm& term : terms_.experts)
      if (term.experts == w.copies && term.active == w.active) return void(term.bytes += bytes);
    terms_.experts.push_back({w.copies, w.active, bytes});
  }
  void add_product(const Format* format, double flops) {
    for (ProductTerm& term : terms_.products)
      if (term.format == format) return void(term.flops_per_token += flops);
    terms_.products.push_back({format, flops});
  }

  RankTerms& terms_;
  const Parallelism& parallel_;
};

// Scores and weighted values of one query against one entry, all heads of the rank: multiply-adds
// are two. MLA in decode is cheapest absorbed (latent + rope for scores, latent for values);
// expanding the cache at each step would add 2 · latent · heads · (nope + v) per entry.
double flops_per_entry(const Mixer& mixer, CacheGroup::Kind kind, std::int64_t tp) {
  const auto on_rank = [&](std::int64_t heads) { return static_cast<double>(ceil_div(heads, tp)); };
  if (kind == CacheGroup::index)
    return mixer.sparse ? 2.0 * static_cast<double>(mixer.sparse->heads * mixer.sparse->width) : 0;
  if (const auto* a = std::get_if<Attention>(&mixer.kind))
    return 2 * on_rank(a->heads) * static_cast<double>(a->k_width + a->v_width);
  if (const auto* l = std::get_if<Latent>(&mixer.kind))
    return 2 * on_rank(l->heads) * static_cast<double>(2 * l->latent + l->rope);
  return 0;
}

std::int64_t count_between(const std::vector<int>& layers, std::int64_t first, std::int64_t end) {
  return std::count_if(layers.begin(), layers.end(), [&](int i) { return i >= first && i < end; });
}

CacheTerm cache_term(const CacheGroup& group, const ModelSpec& model, const Parallelism& p,
                     std::int64_t first, std::int64_t end) {
  const CacheSharding sharding{p.tp, p.dcp};
  CacheTerm term;
  term.group = group;
  term.dcp = p.dcp;
  const Bytes entry = entry_bytes(group, sharding);
  term.read_per_entry = entry * count_between(group.readers, first, end);
  term.written_per_entry = entry * count_between(group.layers, first, end);
  if (const auto* c = std::get_if<Compressed>(&group.law)) term.tokens_per_entry = c->ratio;
  // A step reads the state and writes it back.
  term.state = state_bytes(group, sharding) * (2 * count_between(group.layers, first, end));
  for (const int i : group.readers)
    if (i >= first && i < end)
      term.flops_per_entry +=
          flops_per_entry(model.layers[static_cast<std::size_t>(i)].mixer, group.kind, p.tp);
  return term;
}

// Sums of partial results leave each GPU once and come back once per row-parallel product
// (attention output and feed-forward): 2 per layer, (tp - 1) / tp of a 16-bit hidden row each;
// in-network reduction cannot do with less.
Bytes crossing(const ModelSpec& model, const Parallelism& p, std::int64_t layers) {
  const std::int64_t row = checked_mul(model.hidden, 2);
  const std::int64_t reduced = checked_mul(checked_mul(row, 2 * layers), p.tp - 1) / p.tp;
  return Bytes(checked_add(reduced, p.pp > 1 ? row : 0));
}

std::vector<std::int64_t> main_indices(const ModelSpec& model) {
  std::vector<std::int64_t> indices;
  for (std::size_t i = 0; i < model.layers.size(); ++i)
    if (model.layers[i].role == Layer::main) indices.push_back(static_cast<std::int64_t>(i));
  return indices;
}

// Tables and towers live on the first stage, norm and head on the last. A tied head is the token
// table (the first table of `ends`) read once more as a matrix; with pipeline stages the last one
// holds its own copy.
void add_ends(Fold& fold, RankTerms& terms, const ModelSpec& model, const Parallelism& p,
              std::int64_t stage) {
  const bool first = stage == 0, last = stage == p.pp - 1;
  bool token_table = model.tied_head;
  for (const Weight& w : model.ends) {
    const bool table = w.role == Role::embedding;
    if (table ? first : last) fold.add(w, nullptr);
    if (!table || !token_table) continue;
    token_table = false;
    if (!last) continue;
    const Share share = share_of(w, nullptr, p);
    Weight head = w;
    head.is_matrix = true;
    fold.add_head(head, bytes_on_rank(w, share), share);
    if (!first) terms.resident += bytes_on_rank(w, share);
  }
  if (first)
    for (const Weight& w : model.vision) fold.add(w, nullptr);
}

}  // namespace

std::vector<RankTerms> rank_terms(const ModelSpec& model, const Deployment& deployment) {
  const Parallelism& p = deployment.parallel;
  validate(model, p);
  const auto groups = cache_groups(model, deployment.cache);
  const std::vector<std::int64_t> mains = main_indices(model);
  const auto layers = static_cast<std::int64_t>(mains.size());
  const std::int64_t per_stage = ceil_div(std::max<std::int64_t>(layers, 1), p.pp);
  std::vector<RankTerms> stages(static_cast<std::size_t>(p.pp));
  for (std::int64_t s = 0; s < p.pp; ++s) {
    RankTerms& terms = stages[static_cast<std::size_t>(s)];
    Fold fold(terms, p);
    const std::int64_t first = s * per_stage, end = std::min(layers, first + per_stage);
    for (std::int64_t i = first; i < end; ++i) {
      const Layer& layer =
          model.layers[static_cast<std::size_t>(mains[static_cast<std::size_t>(i)])];
      for (const Weight& w : layer.weights) fold.add(w, &layer.mixer);
    }
    add_ends(fold, terms, model, p, s);
    const std::int64_t from = first < layers ? mains[static_cast<std::size_t>(first)] : 0;
    const std::int64_t to = first < end ? mains[static_cast<std::size_t>(end - 1)] + 1 : from;
    for (const CacheGroup& group : groups)
      terms.caches.push_back(cache_term(group, model, p, from, to));
    terms.crossing_per_token = crossing(model, p, std::max<std::int64_t>(0, end - first));
  }
  return stages;
}

Bytes resident_on_fullest_gpu(const ModelSpec& model, const Parallelism& parallel) {
  Deployment deployment;
  deployment.parallel = parallel;
  deployment.cache = cache_formats("bf16");
  Bytes most;
  for (const RankTerms& stage : rank_terms(model, deployment))
    most = std::max(most, stage.resident);
  return most;
}

}  // namespace kvplan
