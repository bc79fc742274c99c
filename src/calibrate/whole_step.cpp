// SPDX-License-Identifier: Apache-2.0
#include "calibrate/whole_step.h"

#include <cmath>

#include "calibrate/outcome.h"

namespace kvplan {
namespace {

constexpr double kShareOfStep = 1.5;  // of what remains for each: most need less
constexpr double kLeastPasses = 6;    // 3 samples, and what choosing kernels takes

// Each layer: query, key and value together; output; gate and up together; down.
void add_layer(const SyntheticModel& m, const StepCase& c, std::vector<Problem>& out) {
  const std::int64_t rows = c.prompt > 0 ? c.prompt : c.batch;
  const std::int64_t queries = m.heads * m.width;
  const auto product = [&](std::int64_t n, std::int64_t k) {
    out.push_back(GemmShape{rows, n, k, c.weights});
  };
  product(queries + 2 * m.kv_heads * m.width, m.hidden);
  if (c.prompt > 0)
    out.push_back(PrefillAttentionShape{1, m.heads, m.kv_heads, m.width, m.width, c.prompt,
                                        c.context, c.cache});
  else
    out.push_back(DecodeAttentionShape{c.batch, m.heads, m.kv_heads, m.width, m.width, c.context,
                                       c.cache, c.cache});
  product(m.hidden, queries);
  product(2 * m.inner, m.hidden);
  product(m.hidden, m.inner);
}

}  // namespace

std::vector<Problem> problems_of(const SyntheticModel& m, const StepCase& c) {
  std::vector<Problem> problems;
  for (std::int64_t layer = 0; layer < m.layers; ++layer) add_layer(m, c, problems);
  // Of a prompt, the last token alone meets the head.
  problems.push_back(GemmShape{c.batch, m.vocabulary, m.hidden, c.weights});
  return problems;
}

std::vector<StepCase> step_cases(Effort effort) {
  const Format *bf16 = &format_named("bf16"), *int4 = &format_named("int4-g128"),
               *int8 = &format_named("int8-channel"), *q4 = &format_named("q4_k");
  if (effort == Effort::quick)
    return {{bf16, bf16, 1, 384}, {bf16, bf16, 3, 3000}, {int4, bf16, 1, 3000},
            {int4, bf16, 6, 384}, {bf16, bf16, 6, 1500}, {int4, bf16, 3, 6000},
            {q4, bf16, 1, 384},   {bf16, bf16, 1, 0, 96}};
  return {{bf16, bf16, 1, 128},   {bf16, bf16, 1, 3000},   {bf16, bf16, 3, 1500},
          {bf16, bf16, 8, 6000},  {bf16, bf16, 1, 16000},  {int8, bf16, 1, 384},
          {int8, bf16, 6, 3000},  {int4, bf16, 1, 384},    {int4, bf16, 1, 12000},
          {int4, bf16, 6, 3000},  {q4, bf16, 1, 384},      {q4, bf16, 6, 3000},
          {bf16, bf16, 1, 0, 96}, {bf16, bf16, 1, 0, 384}, {int4, bf16, 1, 0, 192}};
}

std::optional<Estimate> predicted(const Profile& profile, const std::vector<Problem>& problems) {
  std::optional<Estimate> sum;
  for (const Problem& problem : problems) {
    const auto shape = shape_of(problem);
    const auto one = shape ? profile.time(*shape) : std::nullopt;
    if (!one) return std::nullopt;
    sum = sum ? *sum + *one : *one;
  }
  return sum;
}

std::optional<double> StepProof::error_of_stream() const {
  const auto share = samples.stream_share();
  if (!share || !expected_of_stream) return std::nullopt;
  return share->median / *expected_of_stream - 1;
}

std::optional<double> StepProof::stream_noise() const {
  if (samples.stream.empty()) return std::nullopt;
  std::vector<double> times;
  for (const Seconds time : samples.stream) times.push_back(time.v);
  return spread_of(times).noise();
}

bool StepProof::judged(const SamplingRules& rules) const {
  return samples.admitted == 0 && samples.stream.size() >= rules.least &&
         *stream_noise() <= rules.noise;
}

std::vector<StepProof> Proof::judged(const SamplingRules& rules) const {
  std::vector<StepProof> quiet;
  for (const StepProof& step : steps)
    if (step.judged(rules)) quiet.push_back(step);
  return quiet;
}

std::optional<double> median_error(const std::vector<StepProof>& steps) {
  std::vector<double> errors;
  for (const StepProof& step : steps) errors.push_back(std::abs(step.error()));
  return errors.empty() ? std::nullopt : std::optional(quantile(errors, 0.5));
}

std::optional<double> median_error_of_stream(const std::vector<StepProof>& steps) {
  std::vector<double> errors;
  for (const StepProof& step : steps)
    if (const auto error = step.error_of_stream()) errors.push_back(std::abs(*error));
  return errors.empty() ? std::nullopt : std::optional(quantile(errors, 0.5));
}

Proof prove(Backend& backend, const Profile& profile, const SessionOptions& options,
            const Attendance& attendance, Seconds end) {
  Proof proof;
  Seconds deadline = end;
  const auto over = [&] { return attendance.interrupted() || attendance.now() > deadline; };
  Sampler sampler(backend, options.rules, over);
  const auto stream = backend.prepare(StreamShape{stream_bytes(backend)});
  const std::vector<StepCase> cases = step_cases(options.effort);
  for (std::size_t i = 0; i < cases.size() && !attendance.interrupted(); ++i) {
    const auto left = static_cast<double>(cases.size() - i);
    attendance.progress(1 - left / static_cast<double>(cases.size()), "a whole step of a model");
    const Seconds share = (end - attendance.now()) * (kShareOfStep / left);
    deadline = attendance.now() + share;
    const std::vector<Problem> problems = problems_of({}, cases[i]);
    const auto expected = predicted(profile, problems);
    if (!expected || expected->value * kLeastPasses > share) continue;
    const auto run = backend.prepare_step(problems);
    if (!run) continue;
    run->sample();  // the first one is not cold only, but new
    Samples samples = sampler.rounds(stream.get(), {run.get()}).front();
    if (samples.times.size() < 3) continue;
    StepProof step{cases[i], *expected, std::move(samples), {}};
    if (profile.stream_read)
      step.expected_of_stream = run->work().moved / expected->value / *profile.stream_read;
    proof.steps.push_back(std::move(step));
  }
  if (!sampler.stream().times.empty()) proof.stream_noise = sampler.stream().spread().noise();
  proof.median_error = median_error(proof.steps);
  return proof;
}

}  // namespace kvplan
