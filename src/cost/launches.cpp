// SPDX-License-Identifier: Apache-2.0
#include "cost/launches.h"

#include <algorithm>

#include "cost/exchange.h"
#include "cost/launch_list.h"
#include "cost/rank.h"
#include "cost/share.h"
#include "model/cache.h"

namespace kvplan {
namespace {

class Collector {
 public:
  Collector(const ModelSpec& model, const Deployment& deployment, const Pass& pass)
      : model_(model), deployment_(deployment), pass_(pass) {}

  Launches collect() {
    const Parallelism& p = deployment_.parallel;
    if (p.ep > 1) check_expert_parallelism();
    for (const Layer* layer : main_layers(model_)) {
      add_products(*layer);
      add_experts(*layer);
    }
    if (pass_.logits) add_head();
    for (const CacheGroup& group : cache_groups(model_, deployment_.cache))
      add_cache_launches(model_, deployment_, pass_, group, found_);
    if (p.tp > 1)
      found_.add(CollectiveShape{CollectiveShape::all_reduce, p.tp,
                                 Bytes(checked_mul(pass_.tokens, model_.hidden * 2))},
                 sums());
    add_sends();
    return found_.take();
  }

 private:
  // Either the GPUs that divide attention divide experts too, each sees all tokens, and they add up
  // their parts; or attention is whole on every GPU, and tokens travel to their experts and back.
  void check_expert_parallelism() {
    const Parallelism& p = deployment_.parallel;
    if (p.tp > 1 && p.tp != p.ep) found_.miss("experts divided over other GPUs than attention");
    if (p.tp == 1 && p.ep > kMostExchanging) found_.miss("tokens exchanged among more than 8 GPUs");
  }

  // The outputs of divided experts are partial sums like those of divided matrices.
  std::int64_t sums() const {
    Deployment divided = deployment_;
    divided.parallel.ep = 1;
    std::int64_t all = 0;
    for (const RankTerms& stage : rank_terms(model_, divided)) all += stage.reductions;
    return all;
  }

  // From one stage to the next travel a token's hidden row and the residual beside it (vLLM). Two
  // GPUs that gather send each other as much as one sends another.
  void add_sends() {
    const std::int64_t rows = checked_mul(2, pass_.tokens);
    found_.add(gathered(2, checked_mul(rows, model_.hidden)), deployment_.parallel.pp - 1);
  }

  // One product for the matrices of a layer that meet the same input.
  void add_products(const Layer& layer) {
    struct Fused {
      Role role;
      GemmShape shape;
    };
    std::vector<Fused> fused;
    for (const Weight& w : layer.weights) {
      if (!w.is_matrix || w.role == Role::routed_expert) continue;
      if (w.role == Role::attention && is_module(layer)) continue;
      const WeightShare share = share_of(w, &layer.mixer, deployment_.parallel);
      const GemmShape shape{pass_.tokens, share.rows, share.columns, w.format};
      const auto partner = share.partial
                               ? fused.end()
                               : std::find_if(fused.begin(), fused.end(), [&](const Fused& f) {
                                   return f.role == w.role && f.shape.k == shape.k &&
                                          f.shape.weights == shape.weights;
                                 });
      if (partner != fused.end())
        partner->shape.n += shape.n;
      else if (share.partial)
        found_.add(shape);
      else
        fused.push_back({w.role, shape});
    }
    for (const Fused& f : fused) found_.add(f.shape);
  }

  // Three matrices an expert; fewer or more count by their numbers.
  void add_experts(const Layer& layer) {
    MoeShape shape;
    double numbers = 0;
    for (const Weight& w : layer.weights) {
      if (w.role != Role::routed_expert || !w.is_matrix) continue;
      numbers += static_cast<double>(checked_mul(w.rows, w.columns));
      shape.experts = w.copies;
      shape.chosen = w.active;
      shape.weights = w.format;
      shape.hidden = w.name.ends_with("down_proj") ? w.rows : shape.hidden;
    }
    if (!shape.weights) return;
    if (shape.hidden == 1) shape.hidden = model_.hidden;
    shape.tokens = pass_.pooled;
    shape.inner = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(numbers / 3 / static_cast<double>(shape.hidden)));
    const Parallelism& p = deployment_.parallel;
    shape.expert_parallel = p.ep;
    shape.tensor_parallel = p.ep > 1 ? 1 : p.tp;
    found_.add(shape);
    if (p.ep > 1 && p.tp == 1) found_.add(exchange_of(shape, pass_.tokens), 2);  // to them and back
  }

  void add_head() {
    for (const Weight& w : model_.ends) {
      const bool head = w.role == Role::head || (model_.tied_head && w.role == Role::embedding);
      if (!head || (w.role == Role::head && !w.is_matrix)) continue;
      const WeightShare share = share_of(w, nullptr, deployment_.parallel);
      found_.add(GemmShape{pass_.sequences, share.rows, share.columns, w.format});
      if (w.role == Role::embedding) return;  // further tables are no heads
    }
  }

  const ModelSpec& model_;
  const Deployment& deployment_;
  Pass pass_;
  LaunchList found_;
};

}  // namespace

Launches decode_launches(const ModelSpec& model, const Deployment& deployment, Tokens context,
                         std::int64_t batch) {
  const Parallelism& p = deployment.parallel;
  // Stages work on a part of the batch each at a time.
  const std::int64_t part = ceil_div(batch, p.pp), local = ceil_div(part, p.dp);
  return Collector(model, deployment, {local, p.pooled(part), local, context, true}).collect();
}

Launches prefill_launches(const ModelSpec& model, const Deployment& deployment, Tokens prompt,
                          std::int64_t batch) {
  const Parallelism& p = deployment.parallel;
  const std::int64_t local = ceil_div(batch, p.dp);
  return Collector(model, deployment,
                   {checked_mul(prompt.n, local), checked_mul(prompt.n, p.pooled(batch)), local,
                    prompt, false})
      .collect();
}

Launches pass_launches(const ModelSpec& model, const Deployment& deployment,
                       const PromptPass& pass) {
  return Collector(model, deployment,
                   {pass.tokens, pass.tokens, 1, Tokens(pass.tokens), false, pass.past, pass.last})
      .collect();
}

}  // namespace kvplan
