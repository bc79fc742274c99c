// SPDX-License-Identifier: Apache-2.0
#include "calibrate/shapes.h"

#include <algorithm>
#include <numeric>

namespace kvplan {
namespace {

using Numbers = std::vector<std::int64_t>;
struct Heads {
  std::int64_t all, kv;
};

// Axes of all grids. At least three values each, so that whole values can be left out of a fit.
struct Axes {
  std::vector<std::string_view> weights, blocks, products, caches;
  Numbers rows, outputs, inputs;  // m, n, k of streamed weights
  Numbers many_rows;              // m of products
  std::vector<Heads> heads;
  Numbers widths, batches, contexts, queries;
  bool latent = false;
};

Axes axes_of(Effort effort) {
  Axes a;
  if (effort == Effort::quick) {
    a.weights = {"bf16", "int4-g128"};
    a.blocks = {"q4_k", "q6_k"};  // q4_k_m is the usual file
    a.products = {"bf16"};
    a.caches = {"bf16"};
    a.rows = {1, 2, 8};
    a.outputs = {1024, 4096, 14336};
    a.inputs = {1024, 4096, 8192};
    a.many_rows = {32, 128};
    a.heads = {{8, 8}, {32, 8}, {16, 2}};
    a.widths = {128};
    a.batches = {1, 2, 8};
    a.contexts = {128, 1024, 8192};
    a.queries = {64, 256};
    return a;
  }
  a.weights = {"bf16", "fp16", "fp8", "int8-channel", "int4-g128"};
  a.blocks = {"q4_k", "q6_k", "q5_k", "q8_0", "q4_0", "q3_k"};
  a.products = {"bf16", "int4-g128"};
  a.caches = {"bf16", "fp16", "int8-head"};
  a.rows = {1, 2, 4, 8};
  a.outputs = {1024, 4096, 8192, 14336};
  a.inputs = {1024, 2048, 4096, 8192};
  a.many_rows = {32, 128, 512};
  a.heads = {{4, 4}, {8, 8}, {32, 8}, {32, 4}, {16, 2}};
  a.widths = {64, 128};
  a.batches = {1, 2, 4, 8};
  a.contexts = {128, 512, 2048, 8192, 16384};
  a.queries = {128, 512, 1024};
  a.latent = true;
  if (effort == Effort::full) {
    a.weights.push_back("fp32");
    a.blocks.push_back("q2_k");
    a.caches.push_back("fp8");
    a.outputs.push_back(32000);
    a.widths.push_back(256);
    a.queries.push_back(2048);
  }
  return a;
}

Series weights(std::string_view format, const Axes& a) {
  Series series{"weights " + std::string(format), {}};
  for (const auto m : a.rows)
    for (const auto n : a.outputs)
      for (const auto k : a.inputs)
        series.problems.push_back(GemmShape{m, n, k, &format_named(format)});
  return series;
}

Series products(std::string_view format, const Axes& a) {
  Series series{"products " + std::string(format), {}};
  for (const auto m : a.many_rows)
    for (const auto n : {1024, 4096})
      for (const auto k : {1024, 2048, 4096})
        series.problems.push_back(GemmShape{m, n, k, &format_named(format)});
  return series;
}

// ggml's blocks: formats are many, so that each has a sparser grid, products of many rows included.
Series blocks(std::string_view format, const Axes& a) {
  Series series{"weights " + std::string(format), {}};
  const Format& f = format_named(format);
  for (const std::int64_t m : {1, 2, 8})
    for (const std::int64_t n : {1024, 4096, 14336})
      for (const std::int64_t k : {1024, 4096, 8192})
        series.problems.push_back(GemmShape{m, n, k, &f});
  for (const auto m : a.many_rows)
    for (const std::int64_t k : {1024, 4096}) series.problems.push_back(GemmShape{m, 1024, k, &f});
  return series;
}

Series decode_attention(std::string_view format, const Axes& a) {
  Series series{"decode attention " + std::string(format), {}};
  const Format& f = format_named(format);
  for (const auto width : a.widths)
    for (const Heads heads : a.heads)
      for (const auto batch : a.batches)
        for (const auto context : a.contexts)
          series.problems.push_back(
              DecodeAttentionShape{batch, heads.all, heads.kv, width, width, context, &f, &f});
  return series;
}

Series prefill_attention(std::string_view format, const Axes& a) {
  Series series{"prefill attention " + std::string(format), {}};
  for (const auto width : a.widths)
    for (const Heads heads : a.heads)
      for (const auto queries : a.queries)
        for (const std::int64_t past : {0, 1024})
          series.problems.push_back(PrefillAttentionShape{1, heads.all, heads.kv, width, width,
                                                          queries, past, &format_named(format)});
  return series;
}

Series latent_decode() {
  Series series{"latent decode bf16", {}};
  const Format& bf16 = format_named("bf16");
  for (const std::int64_t heads : {16, 64, 128})
    for (const std::int64_t batch : {1, 2, 8})
      for (const std::int64_t context : {256, 1024, 4096})
        series.problems.push_back(LatentDecodeShape{batch, heads, 512, 64, context, &bf16, &bf16});
  return series;
}

// Streams are read, or read and written.
Work work_of(const StreamShape& s) {
  Work work;
  work.distinct = work.moved = s.bytes * (s.copy ? 2 : 1);
  work.op = s.copy ? OperatorClass::stream_copy : OperatorClass::stream_read;
  return work;
}
Work work_of(const LaunchShape&) { return {}; }

}  // namespace

Work work_of(const Problem& problem) {
  return std::visit([](const auto& shape) { return work_of(shape); }, problem);
}

// One after the other: kernels overlap the two only in part.
Seconds expected_time(const Problem& problem, const Pace& pace) {
  const Work work = work_of(problem);
  return work.moved / pace.read + work.flops / pace.arithmetic;
}

std::vector<Series> all_series(Effort effort) {
  const Axes axes = axes_of(effort);
  std::vector<Series> all;
  for (const auto format : axes.weights) all.push_back(weights(format, axes));
  for (const auto format : axes.blocks) all.push_back(blocks(format, axes));
  for (const auto format : axes.caches) all.push_back(decode_attention(format, axes));
  for (const auto format : axes.products) all.push_back(products(format, axes));
  all.push_back(prefill_attention("bf16", axes));
  if (axes.latent) all.push_back(latent_decode());
  return all;
}

Series thinned(const Series& series, const Pace& pace, std::size_t samples, Seconds budget) {
  constexpr std::size_t kLeast = 8;
  std::vector<std::size_t> kept;
  Seconds total;
  for (std::size_t i = 0; i < series.problems.size(); ++i) {
    if (work_of(series.problems[i]).moved > pace.largest) continue;
    kept.push_back(i);
    total += expected_time(series.problems[i], pace) * static_cast<double>(samples);
  }
  const auto longer = [&](std::size_t a, std::size_t b) {
    return expected_time(series.problems[a], pace) > expected_time(series.problems[b], pace);
  };
  std::stable_sort(kept.begin(), kept.end(), longer);
  auto first = kept.begin();
  for (; total > budget && kept.end() - first > static_cast<std::ptrdiff_t>(kLeast); ++first)
    total += expected_time(series.problems[*first], pace) * -static_cast<double>(samples);
  kept.erase(kept.begin(), first);
  std::sort(kept.begin(), kept.end());
  Series rest{series.what, {}};
  for (const std::size_t i : kept) rest.problems.push_back(series.problems[i]);
  return rest;
}

}  // namespace kvplan
