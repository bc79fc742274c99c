// SPDX-License-Identifier: Apache-2.0
#include "cost/laws.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kvplan {
namespace {

double real(std::int64_t n) { return static_cast<double>(n); }

// The greatest, rounded at the corner: (Σ x^p)^(1/p); p = 1 is the sum, large p the maximum.
double smooth_max(double sharpness, double a, double b) {
  const double top = std::max(a, b);
  if (top <= 0) return 0;
  const double ratio = std::min(a, b) / top;
  return top * std::pow(1 + std::pow(ratio, sharpness), 1 / sharpness);
}
double smooth_max(double sharpness, double a, double b, double c) {
  const double top = std::max({a, b, c});
  if (top <= 0) return 0;
  const double sum =
      std::pow(a / top, sharpness) + std::pow(b / top, sharpness) + std::pow(c / top, sharpness);
  return top * std::pow(sum, 1 / sharpness);
}

// n while below the limit, then growing as n to this power.
double bent(double n, double limit, double power) {
  const double x = n / limit;
  return n * std::pow(1 + x * x * x * x, (power - 1) / 4);
}
// At least `least`, with a smooth corner.
double at_least(double n, double least) {
  return std::sqrt(std::sqrt(n * n * n * n + least * least * least * least));
}

// A read of this size at a bandwidth that it reaches only when long.
double ramped(double bytes, BytesPerSecond bandwidth, double ramp, ByteScale size) {
  return bytes / bandwidth.v * (1 + ramp / (1 + bytes / size.v));
}

// Warm: what fits into the cache is read `gain` times as fast; the change is sharp (fifth power)
// because a scan that exceeds a cache finds next to nothing of the last one in it.
double read_time(double bytes, double bandwidth, double gain, ByteScale cache, Caches caches) {
  if (caches == Caches::cold) return bytes / bandwidth;
  const double x = bytes / cache.v, fifth = x * x * x * x * x, missed = fifth / (1 + fifth);
  return bytes / bandwidth * (missed + (1 - missed) / gain);
}

// Factors known at head widths 64, 128 (= 1), 192 and 256; linear between, constant beyond.
double at_width(double width, double w64, double w192, double w256) {
  constexpr std::array<double, 4> kWidths{64, 128, 192, 256};
  const std::array<double, 4> factors{w64, 1, w192, w256};
  if (width <= kWidths.front()) return w64;
  for (std::size_t i = 1; i < kWidths.size(); ++i)
    if (width <= kWidths[i])
      return std::lerp(factors[i - 1], factors[i],
                       (width - kWidths[i - 1]) / (kWidths[i] - kWidths[i - 1]));
  return w256;
}

double tiled(std::int64_t n) { return 64 * real(ceil_div(n, 64)); }

// Rows that vectors or small tiles are filled up to.
double padded(std::int64_t n) { return n > 4 ? 8 * real(ceil_div(n, 8)) : n > 2 ? 4 : real(n); }

// Of k, which a block loads at a time: a shorter loop takes as long (kernels of CUTLASS take 32 to
// 128, times of the A100 and the H100 are the same for k = 32 and 64).
constexpr double kTile = 64;

}  // namespace

Seconds time(const GemmLaw& law, const GemmShape& s, Caches) {
  const double memory = ramped(work_of(s).distinct.real(), law.bandwidth, law.ramp, law.ramp_size);
  const double rows = std::min(tiled(s.m), at_least(padded(s.m), law.least_rows));
  const double arithmetic = 2 * rows * tiled(s.n) * real(s.k) / law.rate.v;
  const bool single = s.m == 1;
  const double pass = bent(at_least(real(s.k), kTile),
                           law.split_k * (single ? law.single_split : 1), law.beyond_split);
  const double serial = law.per_k.v * pass * (single ? law.single_row : 1);
  return law.floor +
         Seconds(smooth_max(law.memory_sharpness, serial,
                            smooth_max(law.rate_sharpness, memory, arithmetic))) +
         law.per_output * (real(s.m) * real(s.n)) + law.per_input * (real(s.m) * real(s.k)) +
         law.per_row * real(s.m);
}

Seconds time(const DecodeAttentionLaw& law, const DecodeAttentionShape& s, Caches caches) {
  const bool grouped = s.heads != s.kv_heads;
  const double widths = real(s.k_width + s.v_width) / 256, context = real(s.context);
  const double pairs = real(s.batch) * real(s.kv_heads);
  // Splits begin at a few hundred tokens.
  const double split = std::pow(context / 180, 4), splits = split / (1 + split);
  Seconds floor = law.floor + law.per_width * widths + law.combined * splits +
                  law.per_doubling * std::log2(1 + context / 128);
  if (grouped) floor += law.grouped;
  if (grouped && s.batch > 1 && s.kv_heads > 1) floor += law.transposed;

  const double overhead = (law.per_pair.v + law.per_pair_width.v * widths) * pairs +
                          law.per_query.v * real(s.batch) * real(s.heads) * widths;
  const double bandwidth =
      law.bandwidth.v * at_width(128 * widths, law.width_64, law.width_192, law.width_256);
  const double memory =
      read_time(work_of(s).distinct.real(), bandwidth, law.cache_gain, law.cache, caches);
  const double token =
      (cache_row_bytes(*s.key, 1, s.k_width) + cache_row_bytes(*s.value, 1, s.v_width)).real();
  const double one_block = context * token / (grouped ? law.split : law.unsplit).v;
  const std::int64_t group = s.heads / s.kv_heads;
  const double arithmetic = work_of(s).flops.v * (padded(group) / real(group)) / law.rate.v;
  return floor + Seconds(smooth_max(law.sharpness, smooth_max(law.sharpness, overhead, arithmetic),
                                    memory, one_block));
}

Seconds time(const PrefillAttentionLaw& law, const PrefillAttentionShape& s, Caches) {
  const bool alone = s.queries == 1;
  const double widths = real(s.k_width + s.v_width) / 256, queries = real(s.queries);
  Seconds floor = law.floor + law.per_width * widths + law.per_doubling * std::log2(queries);
  if (alone && s.heads != s.kv_heads && s.batch > 1 && s.kv_heads > 1) floor += law.transposed;
  if (alone) floor += law.per_pair * (real(s.batch) * real(s.kv_heads));

  const double new_rows = real(s.batch) * real(s.kv_heads) * queries;
  const double written = 2 * new_rows * real(s.k_width + s.v_width);  // 16 bits each
  const double spans = queries * (queries / 2 + real(s.past) + law.tile);
  const double rate =
      law.rate.v * at_width(128 * widths, law.width_64, law.width_192, law.width_256);
  const double arithmetic =
      2 * real(s.batch) * real(s.heads) * real(s.k_width + s.v_width) * spans / rate;
  const double memory = work_of(s).distinct.real() / law.bandwidth.v;
  const double blocks =
      alone ? 0 : law.per_block.v * real(s.batch) * real(s.heads) * at_least(queries / 128, 1);
  const double serial = law.per_query.v * (queries + real(s.past)) * widths;
  return floor + Seconds(written / law.write.v) +
         Seconds(smooth_max(law.sharpness, smooth_max(law.sharpness, memory, blocks), arithmetic,
                            serial));
}

Seconds time(const LatentLaw& law, const LatentDecodeShape& s, Caches caches) {
  const Work work = work_of(s);
  const double context = real(s.context);
  const double row =
      (cache_row_bytes(*s.latent_format, 1, s.latent) + cache_row_bytes(*s.rope_format, 1, s.rope))
          .real();
  const double memory =
      read_time(real(s.batch) * context * row, law.bandwidth.v, law.cache_gain, law.cache, caches);
  return law.floor + law.per_doubling * std::log2(1 + context / 128) +
         law.per_sequence * real(s.batch) + law.per_query * (real(s.batch) * real(s.heads)) +
         Seconds(smooth_max(law.sharpness, memory, work.flops.v / law.rate.v,
                            context * row / law.split.v));
}

Seconds time(const MoeLaw& law, const MoeShape& s, Caches) {
  const double choices =
      real(s.tokens) * real(s.chosen) * std::pow(real(s.expert_parallel), law.skew - 1);
  const double experts = real(s.experts) / real(s.expert_parallel);
  const double inner = real(s.inner) / real(s.tensor_parallel);
  // Experts that this rank reads when choices are uniform.
  const double touched = experts * -std::expm1(choices * std::log1p(-1 / experts));
  const double matrix = 3 * real(s.hidden) * inner;  // gate, up, down
  const double bytes =
      touched * 3 * stored_bytes(*s.weights, s.inner, s.hidden).real() / real(s.tensor_parallel);
  const double rows = touched * at_least(choices / touched, law.rows);
  return law.floor + law.per_expert * touched +
         Seconds(
             smooth_max(law.sharpness, bytes / law.bandwidth.v, 2 * rows * matrix / law.rate.v)) +
         Seconds(choices * (4 * real(s.hidden) + 4 * inner) / law.shuffle.v);
}

Seconds time(const RecurrenceLaw& law, const RecurrenceShape& s, Caches caches) {
  const Work work = work_of(s);
  const double memory =
      read_time(work.distinct.real(), law.bandwidth.v, law.cache_gain, law.cache, caches);
  const double serial = s.tokens > 1 ? law.per_token.v * tiled(s.tokens) : 0;
  return law.floor + law.per_head * (real(s.batch) * real(s.v_heads)) +
         Seconds(smooth_max(law.sharpness, memory, work.flops.v / law.rate.v, serial));
}

Seconds time(const SparseLatentLaw& law, const SparseLatentShape& s, Caches) {
  const double rows = real(s.batch) * real(s.queries), context = real(s.past + s.queries);
  const SparsePairs pairs = pairs_of(s);
  const auto part = [&](double bytes, BytesPerSecond bandwidth, double flops, FlopsPerSecond rate) {
    return Seconds(smooth_max(law.sharpness, bytes / bandwidth.v, flops / rate.v));
  };
  const Bytes token =
      cache_row_bytes(*s.latent_format, 1, s.latent) + cache_row_bytes(*s.rope_format, 1, s.rope);
  Seconds t =
      law.floor + law.per_doubling * std::log2(1 + context / 128) + law.per_row * rows +
      law.per_query * (rows * real(s.heads)) +
      part(payload_bytes(*s.weights, 1, s.parameters).real(), law.bandwidth,
           2 * rows * real(s.parameters), law.rate) +
      part(pairs.chosen * token.real(), law.gather,
           2 * pairs.chosen * real(s.heads) * real(2 * s.latent + s.rope), law.attention_rate);
  if (s.index_heads == 0) return t;
  const Bytes key = cache_row_bytes(*s.index_format, 1, s.index_width);
  return t + law.indexer +
         part(real(s.batch) * context * key.real(), law.scan,
              2 * pairs.all * real(s.index_heads) * real(s.index_width), law.score_rate);
}

Seconds time(const CollectiveLaw& law, const CollectiveShape& s, Caches) {
  const double others = real(s.ranks - 1), share = others / real(s.ranks);
  const double rounds = s.kind == CollectiveShape::all_reduce ? 2 : 1;
  const double crossing = s.bytes.real() * share * rounds;
  return law.floor + law.per_step * (others * rounds) +
         Seconds(ramped(crossing, law.bandwidth, law.ramp, law.ramp_size));
}

}  // namespace kvplan
