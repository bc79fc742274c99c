// SPDX-License-Identifier: Apache-2.0
// Kernels of a pass that read caches: attention of each kind, and recurrences.
#include <algorithm>

#include "cost/launch_list.h"
#include "cost/share.h"

namespace kvplan {
namespace {

class CacheLaunches {
 public:
  CacheLaunches(const ModelSpec& model, const Deployment& deployment, const Pass& pass,
                LaunchList& list)
      : model_(model), deployment_(deployment), pass_(pass), list_(list) {}

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

 private:
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

  void add(const Shape& shape, std::int64_t count = 1) { list_.add(shape, count); }
  void miss(std::string_view what) { list_.miss(what); }

  const ModelSpec& model_;
  const Deployment& deployment_;
  const Pass& pass_;
  LaunchList& list_;
};

}  // namespace

void add_cache_launches(const ModelSpec& model, const Deployment& deployment, const Pass& pass,
                        const CacheGroup& group, LaunchList& list) {
  CacheLaunches(model, deployment, pass, list).add_cache(group);
}

}  // namespace kvplan
