// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators that kernels run and plans are made of, and their work.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "cost/work.h"
#include "model/format.h"
#include "model/spec.h"

namespace kvplan {

// y[m, n] = x[m, k] · W[n, k]ᵀ; weights in `weights`, activations in 16 bits.
struct GemmShape {
  std::int64_t m = 1, n = 1, k = 1;
  const Format* weights = nullptr;
  friend bool operator==(const GemmShape&, const GemmShape&) = default;
};
// One query token per sequence against `context` stored tokens. q: [batch][heads][k_width].
struct DecodeAttentionShape {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, k_width = 128, v_width = 128, context = 1;
  const Format* key = nullptr;
  const Format* value = nullptr;
  friend bool operator==(const DecodeAttentionShape&, const DecodeAttentionShape&) = default;
};
// MLA decode in absorbed form: one row of latent + rope per token, shared by all heads; values are
// the latent.
struct LatentDecodeShape {
  std::int64_t batch = 1, heads = 1, latent = 512, rope = 64, context = 1;
  const Format* latent_format = nullptr;
  const Format* rope_format = nullptr;
  friend bool operator==(const LatentDecodeShape&, const LatentDecodeShape&) = default;
};
// `queries` new tokens per sequence after `past` stored ones; query i sees past + i + 1 keys.
struct PrefillAttentionShape {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, k_width = 128, v_width = 128, queries = 1,
               past = 0;
  const Format* cache = nullptr;
  friend bool operator==(const PrefillAttentionShape&, const PrefillAttentionShape&) = default;
};
// Routed experts of one layer on one rank: gate, up and down projections of the chosen experts.
struct MoeShape {
  std::int64_t tokens = 1, hidden = 1, inner = 1, chosen = 1, experts = 1;
  std::int64_t tensor_parallel = 1, expert_parallel = 1;
  const Format* weights = nullptr;
  friend bool operator==(const MoeShape&, const MoeShape&) = default;
};
// One layer's recurrence over `tokens` new tokens of each sequence: every token decays, updates and
// queries a k_width x v_width matrix per value head. Of a short_conv no heads count but `channels`
// that pass a convolution of `taps` taps; a layer that has both launches both.
struct RecurrenceShape {
  Recurrent::Kind kind = Recurrent::gated_delta_net;
  std::int64_t batch = 1, tokens = 1;
  std::int64_t k_heads = 0, v_heads = 0, k_width = 0, v_width = 0, channels = 0, taps = 0;
  const Format* state = nullptr;
  friend bool operator==(const RecurrenceShape&, const RecurrenceShape&) = default;
};
// Latent attention over the `chosen` tokens that an indexer ranks highest, as one module: its
// products with weights, the scores of all index keys, and attention. `queries` new tokens per
// sequence after `past` stored ones; one: a step.
struct SparseLatentShape {
  std::int64_t batch = 1, heads = 1, queries = 1, past = 0;
  std::int64_t chosen = 2048, latent = 512, rope = 64;
  std::int64_t index_heads = 0, index_width = 128;  // no heads: another layer's choice
  std::int64_t parameters = 0;                      // of the module's matrices on this GPU
  const Format* weights = nullptr;
  const Format* latent_format = nullptr;
  const Format* rope_format = nullptr;
  const Format* index_format = nullptr;
  friend bool operator==(const SparseLatentShape&, const SparseLatentShape&) = default;
};
// Pairs of a query and a token before it or itself: all, and those that a query attends to.
struct SparsePairs {
  double all = 0, chosen = 0;
};
SparsePairs pairs_of(const SparseLatentShape&);
// Kernels differ by the bits of the cache: "8-bit cache".
std::string_view cache_of(const SparseLatentShape&);
// `bytes` of each rank's result.
struct CollectiveShape {
  enum Kind { all_reduce, all_gather, reduce_scatter, all_to_all } kind = all_reduce;
  std::int64_t ranks = 2;
  Bytes bytes;
  friend bool operator==(const CollectiveShape&, const CollectiveShape&) = default;
};

std::string_view name_of(CollectiveShape::Kind);  // "all_reduce"
std::string_view name_of(Recurrent::Kind);        // "gated_delta_net"

Work work_of(const GemmShape&);
Work work_of(const DecodeAttentionShape&);
Work work_of(const LatentDecodeShape&);
Work work_of(const PrefillAttentionShape&);
Work work_of(const RecurrenceShape&);
Work work_of(const SparseLatentShape&);

// What can be timed and fitted.
using Shape =
    std::variant<GemmShape, DecodeAttentionShape, PrefillAttentionShape, LatentDecodeShape,
                 MoeShape, RecurrenceShape, SparseLatentShape, CollectiveShape>;
OperatorClass class_of(const Shape&);

// Sizes along which shapes of one operator differ: m, n, k; batch, heads, KV heads, tokens; …
struct AxisValues {
  std::array<std::int64_t, 4> sizes{};
  std::size_t count = 0;

  std::size_t size() const { return count; }
  std::int64_t operator[](std::size_t axis) const { return sizes[axis]; }
};
AxisValues axes_of(const Shape&);

}  // namespace kvplan
