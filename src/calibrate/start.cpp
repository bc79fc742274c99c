// SPDX-License-Identifier: Apache-2.0
#include "calibrate/start.h"

#include <algorithm>

#include "calibrate/statistics.h"

namespace kvplan {
namespace {

// Rates that 95 % of the rows stay below: a few outliers do not set them.
struct Extremes {
  Seconds floor;
  BytesPerSecond bandwidth;
  FlopsPerSecond rate;
};

template <class Shape, class Amounts>
Extremes extremes(const MeasuredRows& rows, const Amounts& amounts) {
  std::vector<double> times, bandwidths, rates;
  for (const Measured* row : rows) {
    const auto [bytes, flops] = amounts(std::get<Shape>(row->shape));
    times.push_back(row->time.v);
    bandwidths.push_back(bytes / row->time.v);
    rates.push_back(flops / row->time.v);
  }
  return {Seconds(quantile(times, 0.02)), BytesPerSecond(quantile(bandwidths, 0.95)),
          FlopsPerSecond(std::max(quantile(rates, 0.95), 1e9))};
}

struct Amounts {
  double bytes, flops;
};
template <class Shape>
Amounts work(const Shape& shape) {
  const Work w = work_of(shape);
  return {w.distinct.real(), w.flops.v};
}

}  // namespace

std::vector<GemmLaw> StartOf<GemmLaw>::of(const MeasuredRows& rows) {
  const Extremes e = extremes<GemmShape>(rows, work<GemmShape>);
  GemmLaw law;
  law.floor = e.floor;
  law.per_k = e.floor / 2000;
  law.bandwidth = e.bandwidth;
  law.ramp_size = ByteScale(5e7);
  law.rate = e.rate;
  law.per_output = Seconds(0.3 / e.bandwidth.v);
  law.per_input = Seconds(0.3 / e.bandwidth.v);
  law.per_row = e.floor / 1000;
  GemmLaw computing = law;  // a CPU has no tiles of 64 rows, and multiplies as many as there are
  computing.least_rows = 1.5;
  return {law, computing};
}

std::vector<DecodeAttentionLaw> StartOf<DecodeAttentionLaw>::of(const MeasuredRows& rows) {
  const Extremes e = extremes<DecodeAttentionShape>(rows, work<DecodeAttentionShape>);
  DecodeAttentionLaw law;
  law.floor = e.floor * 0.85;
  law.per_width = e.floor * 0.15;
  law.grouped = law.transposed = e.floor * 0.03;
  law.combined = e.floor * 0.1;
  law.per_doubling = e.floor * 0.03;
  law.per_pair = e.floor / 600;
  law.per_pair_width = e.floor / 1000;
  law.per_query = e.floor / 20000;
  law.bandwidth = e.bandwidth;
  law.split = law.unsplit = e.bandwidth * 0.7;
  law.cache = ByteScale(4e7);
  DecodeAttentionLaw unsplit = law;  // heads of their own are not always split
  unsplit.unsplit = e.bandwidth * 0.012;
  DecodeAttentionLaw computing = law;  // a CPU's cores run out before its memory does
  computing.rate = e.rate * 1.2;
  computing.split = computing.unsplit = e.bandwidth * 10;
  return {law, unsplit, computing};
}

std::vector<PrefillAttentionLaw> StartOf<PrefillAttentionLaw>::of(const MeasuredRows& rows) {
  const Extremes e = extremes<PrefillAttentionShape>(rows, work<PrefillAttentionShape>);
  PrefillAttentionLaw law;
  law.floor = e.floor * 0.85;
  law.per_width = e.floor * 0.15;
  law.per_doubling = e.floor * 0.02;
  law.transposed = e.floor * 0.05;
  law.per_pair = e.floor / 1000;
  law.bandwidth = e.bandwidth * 1.5;
  law.write = e.bandwidth;
  law.rate = e.rate;
  law.per_block = e.floor / 1000;
  law.per_query = e.floor / 2000;
  return {law};
}

std::vector<LatentLaw> StartOf<LatentLaw>::of(const MeasuredRows& rows) {
  const Extremes e = extremes<LatentDecodeShape>(rows, work<LatentDecodeShape>);
  LatentLaw law;
  law.floor = e.floor;
  law.per_doubling = e.floor * 0.05;
  law.per_sequence = e.floor / 300;
  law.per_query = e.floor / 10000;
  law.bandwidth = e.bandwidth;
  law.split = e.bandwidth * 0.5;
  law.rate = e.rate;
  law.cache = ByteScale(4e7);
  return {law};
}

std::vector<MoeLaw> StartOf<MoeLaw>::of(const MeasuredRows& rows) {
  const Extremes e = extremes<MoeShape>(rows, [](const MoeShape& s) {
    const double choices = static_cast<double>(s.tokens * s.chosen) /
                           static_cast<double>(s.expert_parallel * s.tensor_parallel);
    const double matrix = 3 * static_cast<double>(s.hidden) * static_cast<double>(s.inner);
    const double touched = std::min(choices, static_cast<double>(s.experts / s.expert_parallel));
    return Amounts{touched * matrix * s.weights->bits / 8, 2 * choices * matrix};
  });
  MoeLaw law;
  law.floor = e.floor;
  law.per_expert = e.floor / 300;
  law.bandwidth = e.bandwidth;
  law.shuffle = e.bandwidth;
  law.rate = e.rate;
  return {law};
}

std::vector<RecurrenceLaw> StartOf<RecurrenceLaw>::of(const MeasuredRows& rows) {
  const Extremes e = extremes<RecurrenceShape>(rows, work<RecurrenceShape>);
  RecurrenceLaw law;
  law.floor = e.floor * 0.9;
  law.per_head = e.floor / 10000;
  law.per_token = e.floor / 1000;
  law.bandwidth = e.bandwidth;
  law.rate = e.rate;
  law.cache = ByteScale(4e7);
  return {law};
}

std::vector<SparseLatentLaw> StartOf<SparseLatentLaw>::of(const MeasuredRows& rows) {
  const Extremes e = extremes<SparseLatentShape>(rows, work<SparseLatentShape>);
  SparseLatentLaw law;
  law.floor = e.floor * 0.7;
  law.indexer = e.floor * 0.2;
  law.per_doubling = e.floor / 50;
  law.per_row = e.floor / 1000;
  law.per_query = e.floor / 100000;
  law.bandwidth = law.scan = law.gather = e.bandwidth;
  law.rate = law.score_rate = law.attention_rate = e.rate;
  return {law};
}

std::vector<CollectiveLaw> StartOf<CollectiveLaw>::of(const MeasuredRows& rows) {
  const Extremes e = extremes<CollectiveShape>(rows, [](const CollectiveShape& s) {
    return Amounts{s.bytes.real(), 0};
  });
  CollectiveLaw law;
  law.floor = e.floor * 0.7;
  law.per_step = e.floor * 0.1;
  law.bandwidth = e.bandwidth;
  law.ramp_size = ByteScale(1e6);
  return {law};
}

}  // namespace kvplan
