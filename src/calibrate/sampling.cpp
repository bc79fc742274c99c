// SPDX-License-Identifier: Apache-2.0
#include "calibrate/sampling.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace kvplan {
namespace {

std::vector<double> numbers_of(const std::vector<Seconds>& times) {
  std::vector<double> numbers;
  for (const Seconds time : times) numbers.push_back(time.v);
  return numbers;
}

BytesPerSecond rate(const Run& run, Seconds time) { return run.work().moved / time; }

}  // namespace

Spread Samples::spread() const { return spread_of(numbers_of(times)); }

std::optional<Spread> Samples::stream_share() const {
  return of_stream.empty() ? std::nullopt : std::optional(spread_of(of_stream));
}

bool Samples::noisy(const SamplingRules& rules) const {
  return times.size() < 2 || spread().noise() > rules.noise;
}

Sampler::Sampler(Backend& backend, const SamplingRules& rules, std::function<bool()> stop)
    : backend_(backend), rules_(rules), stop_(std::move(stop)) {}

// A throttled sample counts as a trial: a machine that is always throttled comes to an end too.
bool Sampler::settled(const Samples& samples) const {
  const std::size_t trials = samples.times.size() + samples.discarded;
  return trials >= rules_.most || (samples.times.size() >= rules_.least && !samples.noisy(rules_));
}

bool Sampler::throttled() {
  const auto clock = backend_.clock();
  if (!clock) return false;
  if (!highest_clock_ || *clock > *highest_clock_) highest_clock_ = clock;
  return *clock < *highest_clock_ * rules_.clock_share;
}

std::optional<Seconds> Sampler::sample(Run& run, Samples& samples) {
  stopped_ = stopped_ || stop_();
  if (stopped_) return std::nullopt;
  const Seconds time = run.sample();
  if (throttled()) {
    ++samples.discarded;
    return std::nullopt;
  }
  samples.times.push_back(time);
  return time;
}

std::vector<std::size_t> Sampler::order(std::size_t runs, std::size_t round) const {
  std::vector<std::size_t> all(runs);
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::mt19937_64 generator(rules_.seed + round);
  for (std::size_t i = runs; i > 1; --i) std::swap(all[i - 1], all[generator() % i]);
  return all;
}

std::vector<Samples> Sampler::rounds(Run* stream, const std::vector<Run*>& runs) {
  std::vector<Samples> all(runs.size());
  stopped_ = false;
  const auto done = [&](const Samples& s) { return settled(s); };
  for (std::size_t round = 0; !stopped_ && !std::all_of(all.begin(), all.end(), done); ++round) {
    const auto stream_time = stream ? sample(*stream, stream_) : std::nullopt;
    for (const std::size_t i : order(runs.size(), round)) {
      if (settled(all[i])) continue;
      const auto time = sample(*runs[i], all[i]);
      if (time && stream_time)
        all[i].of_stream.push_back(rate(*runs[i], *time) / rate(*stream, *stream_time));
    }
  }
  return all;
}

}  // namespace kvplan
