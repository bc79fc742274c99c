// SPDX-License-Identifier: Apache-2.0
#include "cost/launches.h"

#include <algorithm>

#include "cost/exchange.h"
#include "cost/rank.h"
#include "cost/share.h"
#include "model/cache.h"

namespace kvplan {
namespace {

// What passes the layers of one GPU at once.
struct Pass {
  std::int64_t tokens = 1;  // rows of each product
  std::int64_t pooled = 1;  // of all GPUs that share a set of experts
  std::int64_t sequences = 1;
  Tokens context;  // per sequence, the newest token included; of a prompt its tokens in this pass
  bool decode = true;
  std::int64_t past = 0;  // tokens of a prompt that passed before
  bool logits = true;     // of the newest token of each sequence
};

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
    for (const CacheGroup& group : cache_groups(model_, deployment_.cache)) add_cache(group);
    if (p.tp > 1)
      add(CollectiveShape{CollectiveShape::all_reduce, p.tp,
                          Bytes(checked_mul(pass_.tokens, model_.hidden * 2))},
          sums());
    add_sends();
    return std::move(found_);
  }

 private:
  void miss(std::string_view what) {
    if (found_.missing.empty()) found_.missing = what;
  }

  // Either the GPUs that divide attention divide experts too, each sees all tokens, and they add up
  // their parts; or attention is whole on every GPU, and tokens travel to their experts and back.
  void check_expert_parallelism() {
    const Parallelism& p = deployment_.parallel;
    if (p.tp > 1 && p.tp != p.ep) miss("experts divided over other GPUs than attention");
    if (p.tp == 1 && p.ep > kMostExchanging) miss("tokens exchanged among more than 8 GPUs");
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
    add(gathered(2, checked_mul(rows, model_.hidden)), deployment_.parallel.pp - 1);
  }

  // Of so many numbers of 16 bits from each rank.
  static CollectiveShape gathered(std::int64_t ranks, std::int64_t numbers) {
    return {CollectiveShape::all_gather, ranks, Bytes(checked_mul(checked_mul(numbers, 2), ranks))};
  }

  // GPUs that divide a context gather each other's queries and add up their parts of the outputs
  // (vLLM's decode context parallelism); the weights of the parts are few bytes.
  void add_context_sums(std::int64_t heads, std::int64_t k_width, std::int64_t v_width) {
    const std::int64_t dcp = deployment_.parallel.dcp;
    if (dcp == 1) return;
    const std::int64_t queries = checked_mul(pass_.sequences, heads);
    add(gathered(dcp, checked_mul(queries, k_width)));
    add(CollectiveShape{CollectiveShape::reduce_scatter, dcp,
                        Bytes(checked_mul(checked_mul(queries, dcp), 2 * v_width))});
  }
  // Tokens of a sequence that this GPU attends to.
  std::int64_t entries_of(const CacheGroup& group) const {
    return std::max<std::int64_t>(
        1, ceil_div(read_entries(group, pass_.context), deployment_.parallel.dcp));
  }

  void add(const Shape& shape, std::int64_t count = 1) {
    for (Launch& known : found_.all)
      if (known.shape == shape) return void(known.count += count);
    if (count > 0) found_.all.push_back({shape, count});
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
        add(shape);
      else
        fused.push_back({w.role, shape});
    }
    for (const Fused& f : fused) add(f.shape);
  }

  // Latent attention with an indexer was measured as a whole, its products with weights included.
  static bool is_module(const Layer& layer) {
    return layer.mixer.sparse && layer.mixer.sparse->ratio == 1 &&
           std::holds_alternative<Latent>(layer.mixer.kind);
  }

  void add_module(const Layer& layer) {
    if (deployment_.parallel.dcp > 1) return miss("sparse attention over a divided context");
    const auto& latent = std::get<Latent>(layer.mixer.kind);
    const Sparse& sparse = *layer.mixer.sparse;
    SparseLatentShape shape;
    std::int64_t largest = 0;
    for (const Weight& w : layer.weights) {
      if (!w.is_matrix || w.role != Role::attention) continue;
      const WeightShare share = share_of(w, &layer.mixer, deployment_.parallel);
      const std::int64_t numbers = checked_mul(share.rows, share.columns);
      shape.parameters = checked_add(shape.parameters, numbers);
      if (numbers > largest) largest = numbers, shape.weights = w.format;
    }
    if (!shape.weights) return miss("sparse attention");
    shape.batch = pass_.sequences;
    shape.heads = on_rank(latent.heads);
    shape.queries = pass_.decode ? 1 : pass_.context.n;
    shape.past = pass_.decode ? pass_.context.n - 1 : pass_.past;
    shape.chosen = std::max<std::int64_t>(1, sparse.top_entries);
    shape.latent = latent.latent, shape.rope = latent.rope;
    shape.index_heads = sparse.owns_keys ? sparse.heads : 0;
    shape.index_width = sparse.width;
    shape.latent_format = deployment_.cache.latent, shape.rope_format = deployment_.cache.rope;
    shape.index_format = deployment_.cache.index;
    add(shape);
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
    add(shape);
    if (p.ep > 1 && p.tp == 1) add(exchange_of(shape, pass_.tokens), 2);  // to them and back
  }

  void add_head() {
    for (const Weight& w : model_.ends) {
      const bool head = w.role == Role::head || (model_.tied_head && w.role == Role::embedding);
      if (!head || (w.role == Role::head && !w.is_matrix)) continue;
      const WeightShare share = share_of(w, nullptr, deployment_.parallel);
      add(GemmShape{pass_.sequences, share.rows, share.columns, w.format});
      if (w.role == Role::embedding) return;  // further tables are no heads
    }
  }

  void add_cache(const CacheGroup& group) {
    switch (group.kind) {
      case CacheGroup::full:
      case CacheGroup::window:
      case CacheGroup::chunk:
        for (const int layer : group.readers) add_attention(group, layer);
        return;
      case CacheGroup::latent:
        for (const int layer : group.readers) add_latent(group, layer);
        return;
      case CacheGroup::cross:
        return miss("cross-attention");
      case CacheGroup::state:
        return add_states(group);
      case CacheGroup::index:
        for (const int layer : group.readers)
          if (!is_module(layer_at(layer))) return miss("sparse attention");
        return;  // among the latents
      default:
        return miss("sparse attention");
    }
  }

  // The convolution of a layer and its recurrence are kernels of their own.
  void add_states(const CacheGroup& group) {
    const auto& state = std::get<State>(group.law);
    if (state.mixer.kind == Recurrent::compressor) return miss("sparse attention");
    const Recurrent r = kvplan::on_rank(state, {deployment_.parallel.tp, 1});
    RecurrenceShape shape;
    shape.batch = pass_.sequences;
    shape.tokens = pass_.decode ? 1 : pass_.context.n;
    const auto layers = static_cast<std::int64_t>(group.readers.size());
    if (r.conv_channels > 0) {
      RecurrenceShape convolution = shape;
      convolution.kind = Recurrent::short_conv;
      convolution.channels = r.conv_channels;
      convolution.taps = r.taps;
      convolution.state = state.conv_format;
      add(convolution, layers);
    }
    if (r.kind == Recurrent::short_conv) return;
    shape.kind = r.kind;
    shape.k_heads = r.k_heads, shape.v_heads = r.v_heads;
    shape.k_width = r.k_width, shape.v_width = r.v_width;
    shape.state = r.state_format ? r.state_format : &format_named("fp32");
    add(shape, layers);
  }

  const Layer& layer_at(int layer) const { return model_.layers[static_cast<std::size_t>(layer)]; }

  std::int64_t on_rank(std::int64_t heads) const {
    return std::max<std::int64_t>(1, heads / deployment_.parallel.tp);
  }

  void add_attention(const CacheGroup& group, int layer) {
    const Mixer& mixer = layer_at(layer).mixer;
    const auto* a = std::get_if<Attention>(&mixer.kind);
    if (!a || a->v_is_k || mixer.sparse) return miss("sparse attention");
    const auto format = [&](Part::Role role) {
      const auto part = std::find_if(group.entry.begin(), group.entry.end(),
                                     [&](const Part& p) { return p.role == role; });
      return part == group.entry.end() ? nullptr : part->format;
    };
    const Format *key = format(Part::key), *value = format(Part::value);
    if (!key || !value) return miss("a cache of its own kind");
    const std::int64_t heads = on_rank(a->heads), kv_heads = on_rank(a->kv_heads);
    if (pass_.decode) {
      const std::int64_t dcp = deployment_.parallel.dcp;
      add(DecodeAttentionShape{pass_.sequences, checked_mul(heads, dcp), kv_heads, a->k_width,
                               a->v_width, entries_of(group), key, value});
      add_context_sums(heads, a->k_width, a->v_width);
    } else {
      add_prompt(PrefillAttentionShape{pass_.sequences, heads, kv_heads, a->k_width, a->v_width,
                                       pass_.context.n, pass_.past, key},
                 group);
    }
  }

  // A window w slides: as many pairs as pieces of w queries that see w / 2 tokens before their own.
  // Of a past, no more than the window and the queries leave.
  void add_prompt(PrefillAttentionShape shape, const CacheGroup& group) {
    const auto* window = std::get_if<Window>(&group.law);
    const auto* chunk = std::get_if<Chunk>(&group.law);
    const std::int64_t all = checked_add(shape.past, shape.queries);
    const std::int64_t span = window ? window->size.n : chunk ? chunk->size.n : all;
    if (window)
      shape.past = std::min(shape.past, std::max<std::int64_t>(0, span - shape.queries / 2));
    if (chunk) shape.past %= span;
    if (span < shape.queries) {
      shape.batch = checked_mul(shape.batch, ceil_div(shape.queries, span));
      shape.queries = span;
      shape.past = window ? span / 2 : 0;
    }
    add(shape);
  }

  // Absorbed for a step; expanded to heads for a prompt.
  void add_latent(const CacheGroup& group, int layer) {
    const Mixer& mixer = layer_at(layer).mixer;
    if (is_module(layer_at(layer))) return add_module(layer_at(layer));
    const auto* l = std::get_if<Latent>(&mixer.kind);
    if (!l || mixer.sparse) return miss("sparse attention");
    const std::int64_t heads = on_rank(l->heads);
    if (!pass_.decode)
      return add(PrefillAttentionShape{pass_.sequences, heads, heads, l->nope + l->rope, l->v_width,
                                       pass_.context.n, pass_.past, deployment_.cache.latent});
    add(LatentDecodeShape{pass_.sequences, checked_mul(heads, deployment_.parallel.dcp), l->latent,
                          l->rope, entries_of(group), deployment_.cache.latent,
                          deployment_.cache.rope});
    add_context_sums(heads, l->latent + l->rope, l->latent);
  }

  const ModelSpec& model_;
  const Deployment& deployment_;
  Pass pass_;
  Launches found_;
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
