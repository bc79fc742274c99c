// SPDX-License-Identifier: Apache-2.0
#include "cli/calibrate_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/numbers.h"

namespace kvplan {
namespace {

std::string counted_of(std::int64_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

// What rates depend on most, beyond the format: how often each byte is used.
struct LoadOf {
  std::pair<std::int64_t, std::string> operator()(const GemmShape& s) const {
    return {s.m, counted_of(s.m, "row")};
  }
  std::pair<std::int64_t, std::string> operator()(const DecodeAttentionShape& s) const {
    const std::int64_t group = s.heads / s.kv_heads;
    return {group, fmt::format("{} q/KV head", group)};
  }
  std::pair<std::int64_t, std::string> operator()(const LatentDecodeShape& s) const {
    return {s.heads, counted_of(s.heads, "head")};
  }
  std::pair<std::int64_t, std::string> operator()(const PrefillAttentionShape& s) const {
    return {s.k_width, fmt::format("head width {}", s.k_width)};
  }
  template <class Other>
  std::pair<std::int64_t, std::string> operator()(const Other&) const {
    return {0, ""};
  }
};

Seconds median_of(const SampledShape& s) { return Seconds(s.samples.spread().median); }

double middle(std::vector<double> numbers) { return quantile(std::move(numbers), 0.5); }

bool by_arithmetic(const Work& work) {
  return work.op == OperatorClass::gemm || work.op == OperatorClass::prefill_attention;
}

// The nearer limit: memory as it streams, or arithmetic as registers allow.
std::optional<Bound> binds(const RateRow& row) {
  if (!row.of_stream || !row.of_peak) return std::nullopt;
  return *row.of_stream < *row.of_peak ? Bound::compute : Bound::bandwidth;
}

RateRow row_of(const Session& session, const std::string& what, const std::string& load,
               std::vector<const SampledShape*> shapes) {
  RateRow row;
  row.what = what;
  row.load = load;
  row.shapes = static_cast<std::int64_t>(shapes.size());
  std::stable_sort(shapes.begin(), shapes.end(), [](const auto* a, const auto* b) {
    return work_of(a->problem).moved > work_of(b->problem).moved;
  });
  shapes.resize((shapes.size() + 1) / 2);
  std::vector<double> bytes, flops, shares, peaks, noises;
  for (const SampledShape* s : shapes) {
    const Work work = work_of(s->problem);
    bytes.push_back((work.moved / median_of(*s)).v);
    flops.push_back((work.flops / median_of(*s)).v);
    noises.push_back(s->samples.spread().noise());
    if (const auto share = s->samples.stream_share()) shares.push_back(share->median);
    if (const auto share = session.of_peak(*s)) peaks.push_back(*share);
  }
  const Work work = work_of(shapes.front()->problem);
  row.noise = middle(noises);
  if (!peaks.empty()) row.of_peak = middle(peaks);
  if (by_arithmetic(work)) {
    row.flops = FlopsPerSecond(middle(flops));
    return row;
  }
  row.bytes = BytesPerSecond(middle(bytes));
  if (work.flops > Flops(0)) row.flops = FlopsPerSecond(middle(flops));
  if (!shares.empty()) row.of_stream = middle(shares);
  row.bound = binds(row);
  return row;
}

Object shape_object(const Problem& problem) {
  struct Visitor {
    Object operator()(const StreamShape& s) const { return {{"bytes", value(s.bytes)}}; }
    Object operator()(const LaunchShape&) const { return {}; }
    Object operator()(const GemmShape& s) const {
      return {{"m", value(s.m)},
              {"n", value(s.n)},
              {"k", value(s.k)},
              {"weights", value(s.weights->name)}};
    }
    Object operator()(const DecodeAttentionShape& s) const {
      return {{"batch", value(s.batch)},       {"heads", value(s.heads)},
              {"kv_heads", value(s.kv_heads)}, {"head_dim", value(s.k_width)},
              {"context", value(s.context)},   {"cache", value(s.key->name)}};
    }
    Object operator()(const LatentDecodeShape& s) const {
      return {{"batch", value(s.batch)},     {"heads", value(s.heads)},
              {"latent", value(s.latent)},   {"rope", value(s.rope)},
              {"context", value(s.context)}, {"cache", value(s.latent_format->name)}};
    }
    Object operator()(const PrefillAttentionShape& s) const {
      return {{"batch", value(s.batch)},       {"heads", value(s.heads)},
              {"kv_heads", value(s.kv_heads)}, {"head_dim", value(s.k_width)},
              {"queries", value(s.queries)},   {"past", value(s.past)},
              {"cache", value(s.cache->name)}};
    }
  };
  return std::visit(Visitor{}, problem);
}

std::string_view name_of(Arithmetic arithmetic) {
  switch (arithmetic) {
    case Arithmetic::floats:
      return "fp32";
    case Arithmetic::bf16_pairs:
      return "bf16";
    case Arithmetic::word_pairs:
      return "int16";
    case Arithmetic::byte_quads:
      return "int8";
    case Arithmetic::bf16_tiles:
      return "bf16 in tiles";
    case Arithmetic::word_tiles:
      return "int16 in tiles";
  }
  return "";
}

Value sampled(const Session& session, const SampledShape& s) {
  const Work work = work_of(s.problem);
  const auto share = s.samples.stream_share();
  return value(Object{{"series", value(s.series)},
                      {"shape", value(shape_object(s.problem))},
                      {"kernel", value(s.how)},
                      {"bytes", value(work.moved)},
                      {"flops", value(work.flops)},
                      {"seconds", value(median_of(s))},
                      {"bytes_per_second", value(work.moved / median_of(s))},
                      {"of_stream", share ? value(share->median) : Value{}},
                      {"arithmetic", s.arithmetic ? value(name_of(*s.arithmetic)) : Value{}},
                      {"of_peak", value(session.of_peak(s))},
                      {"noise", value(s.samples.spread().noise())},
                      {"discarded", value(s.samples.discarded)},
                      {"disturbed", value(s.samples.disturbed)},
                      {"disturbed_but_kept", value(s.samples.admitted)},
                      {"sample_seconds", value(s.samples.times)}});
}

}  // namespace

std::vector<RateRow> rate_rows(const Session& session) {
  std::vector<RateRow> rows;
  for (const SampledShape* stream : {&session.read, &session.copy})
    if (!stream->samples.times.empty())
      rows.push_back(row_of(session, stream->series, "", {stream}));
  std::vector<std::string> order;
  std::map<std::string, std::map<std::int64_t, std::vector<const SampledShape*>>> groups;
  for (const SampledShape& shape : session.shapes) {
    if (!groups.count(shape.series)) order.push_back(shape.series);
    groups[shape.series][std::visit(LoadOf{}, shape.problem).first].push_back(&shape);
  }
  for (const std::string& series : order)
    for (const auto& [load, shapes] : groups[series])
      rows.push_back(
          row_of(session, series, std::visit(LoadOf{}, shapes.front()->problem).second, shapes));
  return rows;
}

Array shape_rows(const Session& session) {
  Array rows;
  for (const SampledShape* single : {&session.read, &session.copy, &session.launch})
    if (!single->samples.times.empty()) rows.push_back(sampled(session, *single));
  for (const SampledShape& shape : session.shapes) rows.push_back(sampled(session, shape));
  return rows;
}

Array peak_rows(const Session& session) {
  Array rows;
  for (const ArithmeticPeak& peak : session.peaks)
    rows.push_back(value(Object{{"arithmetic", value(name_of(peak.arithmetic))},
                                {"flops_per_second", value(peak.rate)}}));
  return rows;
}

std::string peaks_of(const Session& session) {
  std::string text;
  for (const ArithmeticPeak& peak : session.peaks)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(peak.arithmetic),
                        shown(peak.rate.v, Show::rate_flops));
  return text;
}

std::vector<ProofRow> proof_rows(const Proof& proof, const SamplingRules& rules) {
  std::vector<ProofRow> rows;
  for (const StepProof& p : proof.steps) {
    ProofRow row;
    row.step = p.step.prompt > 0 ? "prefill" : "decode";
    row.weights = std::string(p.step.weights->name);
    row.batch = p.step.batch;
    row.context = Tokens(p.step.prompt > 0 ? p.step.prompt : p.step.context);
    row.predicted = p.expected.value;
    row.low = p.expected.low;
    row.high = p.expected.high;
    row.measured = p.measured();
    row.error = p.error();
    row.noise = p.samples.spread().noise();
    row.error_of_stream = p.error_of_stream();
    row.stream_noise = p.stream_noise();
    row.judged = p.judged(rules);
    row.disturbed = static_cast<std::int64_t>(p.samples.disturbed);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace kvplan
