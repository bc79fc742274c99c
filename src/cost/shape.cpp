// SPDX-License-Identifier: Apache-2.0
#include "cost/shape.h"

#include <algorithm>

namespace kvplan {
namespace {

constexpr std::int64_t kActivationBytes = 2;  // activations and outputs in 16 bits

double product(std::initializer_list<std::int64_t> factors) {
  double p = 1;
  for (const std::int64_t f : factors) p *= static_cast<double>(f);
  return p;
}

Bytes activations(std::int64_t rows, std::int64_t width) {
  return Bytes(checked_mul(checked_mul(rows, width), kActivationBytes));
}

// Products of few rows stream the weights past them.
OperatorClass class_of_rows(std::int64_t m) {
  return m <= 16 ? OperatorClass::weight_stream : OperatorClass::gemm;
}

}  // namespace

std::string_view name_of(CollectiveShape::Kind kind) {
  switch (kind) {
    case CollectiveShape::all_reduce:
      return "all_reduce";
    case CollectiveShape::all_gather:
      return "all_gather";
    case CollectiveShape::reduce_scatter:
      return "reduce_scatter";
    case CollectiveShape::all_to_all:
      return "all_to_all";
  }
  return "";
}

std::string_view name_of(Recurrent::Kind kind) {
  constexpr std::array<std::string_view, 9> kNames = {"mamba1", "mamba2",     "gated_delta_net",
                                                      "kda",    "short_conv", "compressor",
                                                      "rwkv",   "lightning",  "rg_lru"};
  return kNames[kind];
}

Work work_of(const GemmShape& s) {
  Work work;
  work.distinct =
      stored_bytes(*s.weights, s.n, s.k) + activations(s.m, s.k) + activations(s.m, s.n);
  work.moved = work.distinct;
  work.flops = Flops(2 * product({s.m, s.n, s.k}));
  work.precision = s.weights->precision;
  work.op = class_of_rows(s.m);
  return work;
}

Work work_of(const DecodeAttentionShape& s) {
  const std::int64_t rows = checked_mul(s.batch, s.context);
  Work work;
  work.distinct = cache_row_bytes(*s.key, s.kv_heads, s.k_width) * rows +
                  cache_row_bytes(*s.value, s.kv_heads, s.v_width) * rows +
                  activations(s.batch * s.heads, s.k_width + s.v_width);
  work.moved = work.distinct;
  work.flops = Flops(2 * product({s.batch, s.heads, s.context, s.k_width + s.v_width}));
  work.op = OperatorClass::decode_attention;
  return work;
}

Work work_of(const LatentDecodeShape& s) {
  const std::int64_t rows = checked_mul(s.batch, s.context);
  Work work;
  work.distinct = (cache_row_bytes(*s.latent_format, 1, s.latent) +
                   cache_row_bytes(*s.rope_format, 1, s.rope)) *
                      rows +
                  activations(s.batch * s.heads, 2 * s.latent + s.rope);
  work.moved = work.distinct;
  // Scores over latent + rope, values over the latent.
  work.flops = Flops(2 * product({s.batch, s.heads, s.context, 2 * s.latent + s.rope}));
  work.op = OperatorClass::latent_decode;
  return work;
}

Work work_of(const PrefillAttentionShape& s) {
  const std::int64_t rows = checked_mul(s.batch, checked_add(s.past, s.queries));
  // Query i of n sees past + i keys, i = 1..n: n · past + n (n + 1) / 2 pairs.
  const double pairs = product({s.queries, s.past}) + product({s.queries, s.queries + 1}) / 2;
  Work work;
  work.distinct = cache_row_bytes(*s.cache, s.kv_heads, s.k_width) * rows +
                  cache_row_bytes(*s.cache, s.kv_heads, s.v_width) * rows +
                  activations(checked_mul(s.batch * s.heads, s.queries), s.k_width + s.v_width);
  work.moved = work.distinct;
  work.flops = Flops(2 * product({s.batch, s.heads, s.k_width + s.v_width}) * pairs);
  work.op = OperatorClass::prefill_attention;
  return work;
}

// A step reads and writes its matrices, and of a convolution's rows it writes the newest (as
// state_traffic of model/cache.h); a prompt writes what is left at its end.
Work work_of(const RecurrenceShape& s) {
  const bool step = s.tokens == 1, convolves = s.kind == Recurrent::short_conv;
  const Bytes state = convolves
                          ? payload_bytes(*s.state, step ? s.taps : s.taps - 1, s.channels)
                          : payload_bytes(*s.state, checked_mul(s.v_heads, s.k_width), s.v_width);
  const std::int64_t inputs = 2 * checked_mul(s.k_heads, s.k_width) + s.v_heads * s.v_width;
  Work work;
  work.distinct =
      state * checked_mul(s.batch, step && !convolves ? 2 : 1) +
      activations(checked_mul(s.batch, s.tokens),
                  convolves ? checked_mul(2, s.channels) : inputs + s.v_heads * s.v_width);
  work.moved = work.distinct;
  if (!convolves)  // update and query of each number: two multiply-adds
    work.flops = Flops(4 * product({s.batch, s.tokens, s.v_heads, s.k_width, s.v_width}));
  work.op = step ? OperatorClass::state_step : OperatorClass::state_scan;
  return work;
}

std::string_view cache_of(const SparseLatentShape& s) {
  return s.latent_format->bits >= 16 ? "16-bit cache" : "8-bit cache";
}

SparsePairs pairs_of(const SparseLatentShape& s) {
  const auto seen = [&](std::int64_t past, std::int64_t queries) {
    return product({queries, past}) + product({queries, queries + 1}) / 2;
  };
  // Queries that see fewer tokens than they may choose, then those that choose.
  const std::int64_t few = std::clamp<std::int64_t>(s.chosen - s.past, 0, s.queries);
  const double batch = product({s.batch});
  return {batch * seen(s.past, s.queries),
          batch * (seen(s.past, few) + product({s.queries - few, s.chosen}))};
}

Work work_of(const SparseLatentShape& s) {
  const std::int64_t context = checked_add(s.past, s.queries);
  const SparsePairs pairs = pairs_of(s);
  Work work;
  const auto read = std::min(static_cast<std::int64_t>(std::min(pairs.chosen, 1e15)),
                             checked_mul(s.batch, context));
  work.distinct =
      payload_bytes(*s.weights, 1, s.parameters) + (cache_row_bytes(*s.latent_format, 1, s.latent) +
                                                    cache_row_bytes(*s.rope_format, 1, s.rope)) *
                                                       read;
  if (s.index_heads > 0)
    work.distinct +=
        cache_row_bytes(*s.index_format, 1, s.index_width) * checked_mul(s.batch, context);
  work.moved = work.distinct;
  work.flops = Flops(2 * product({s.batch, s.queries, s.parameters}) +
                     2 * product({s.index_heads, s.index_width}) * pairs.all +
                     2 * product({s.heads, 2 * s.latent + s.rope}) * pairs.chosen);
  work.precision = s.weights->precision;
  work.op = class_of(Shape(s));
  return work;
}

OperatorClass class_of(const Shape& shape) {
  struct Visitor {
    OperatorClass operator()(const GemmShape& s) const { return class_of_rows(s.m); }
    OperatorClass operator()(const DecodeAttentionShape&) const {
      return OperatorClass::decode_attention;
    }
    OperatorClass operator()(const PrefillAttentionShape&) const {
      return OperatorClass::prefill_attention;
    }
    OperatorClass operator()(const LatentDecodeShape&) const {
      return OperatorClass::latent_decode;
    }
    OperatorClass operator()(const MoeShape&) const { return OperatorClass::moe; }
    OperatorClass operator()(const RecurrenceShape& s) const {
      return s.tokens == 1 ? OperatorClass::state_step : OperatorClass::state_scan;
    }
    OperatorClass operator()(const SparseLatentShape& s) const {
      return s.queries == 1 ? OperatorClass::sparse_step : OperatorClass::sparse_scan;
    }
    OperatorClass operator()(const CollectiveShape&) const { return OperatorClass::collective; }
  };
  return std::visit(Visitor{}, shape);
}

AxisValues axes_of(const Shape& shape) {
  struct Visitor {
    AxisValues operator()(const GemmShape& s) const { return {{s.m, s.n, s.k}, 3}; }
    AxisValues operator()(const DecodeAttentionShape& s) const {
      return {{s.batch, s.heads, s.kv_heads, s.context}, 4};
    }
    AxisValues operator()(const PrefillAttentionShape& s) const {
      return {{s.batch, s.heads, s.kv_heads, s.queries}, 4};
    }
    AxisValues operator()(const LatentDecodeShape& s) const {
      return {{s.batch, s.heads, s.context}, 3};
    }
    AxisValues operator()(const MoeShape& s) const {
      return {{s.tokens, s.hidden, s.inner, s.experts}, 4};
    }
    AxisValues operator()(const RecurrenceShape& s) const {
      return {{s.batch, s.tokens, s.kind == Recurrent::short_conv ? s.channels : s.v_heads}, 3};
    }
    AxisValues operator()(const SparseLatentShape& s) const {
      return {{s.batch, s.heads, s.queries, s.past}, 4};
    }
    AxisValues operator()(const CollectiveShape& s) const { return {{s.ranks, s.bytes.n}, 2}; }
  };
  return std::visit(Visitor{}, shape);
}

}  // namespace kvplan
