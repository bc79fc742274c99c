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

constexpr int kStreamAttempts = 4;
constexpr std::size_t kFewest = 3;  // fewer have no median worth the name

BytesPerSecond rate(const Run& run, Seconds time) { return run.work().moved / time; }

template <class Predicate>
bool all_of_first(std::size_t count, const Predicate& predicate) {
  for (std::size_t i = 0; i < count; ++i)
    if (!predicate(i)) return false;
  return true;
}

void keep(const std::vector<Trial>& trials, Samples& samples, const SamplingRules& rules,
          std::size_t fewest) {
  samples.times.clear();
  samples.of_stream.clear();
  samples.stream.clear();
  samples.admitted = 0;
  for (const std::size_t i : trials_to_keep(trials, rules, fewest)) {
    samples.times.push_back(trials[i].time);
    if (trials[i].of_stream) samples.of_stream.push_back(*trials[i].of_stream);
    if (trials[i].stream) samples.stream.push_back(*trials[i].stream);
    samples.admitted += trials[i].disturbed(rules);
  }
  samples.disturbed = trials.size() - samples.times.size();
}

}  // namespace

bool Trial::disturbed(const SamplingRules& rules) const {
  return lost > std::max(time * rules.lost_share, rules.lost_least);
}

std::vector<std::size_t> trials_to_keep(const std::vector<Trial>& trials,
                                        const SamplingRules& rules, std::size_t fewest) {
  std::vector<std::size_t> kept(trials.size());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  const auto share = [&](std::size_t i) {
    return trials[i].disturbed(rules) ? trials[i].lost / trials[i].time : 0;
  };
  std::stable_sort(kept.begin(), kept.end(),
                   [&](std::size_t a, std::size_t b) { return share(a) < share(b); });
  const auto quiet = static_cast<std::size_t>(std::count_if(
      trials.begin(), trials.end(), [&](const Trial& t) { return !t.disturbed(rules); }));
  kept.resize(std::min(trials.size(), std::max(quiet, fewest)));
  std::sort(kept.begin(), kept.end());
  return kept;
}

Spread Samples::spread() const { return spread_of(numbers_of(times)); }

std::optional<Spread> Samples::stream_share() const {
  return of_stream.empty() ? std::nullopt : std::optional(spread_of(of_stream));
}

bool Samples::noisy(const SamplingRules& rules) const {
  return times.size() < 2 || spread().noise() > rules.noise;
}

Sampler::Sampler(Backend& backend, const SamplingRules& rules, std::function<bool()> stop)
    : backend_(backend), rules_(rules), stop_(std::move(stop)) {}

// A sample that was thrown away counts as a trial: a machine that is always throttled or busy comes
// to an end too.
bool Sampler::settled(const Samples& samples, std::size_t trials) const {
  return trials >= rules_.most || (samples.times.size() >= rules_.least && !samples.noisy(rules_));
}

bool Sampler::throttled() {
  const auto clock = backend_.clock();
  if (!clock) return false;
  if (!highest_clock_ || *clock > *highest_clock_) highest_clock_ = clock;
  return *clock < *highest_clock_ * rules_.clock_share;
}

std::optional<Trial> Sampler::sample(Run& run, std::size_t& throttled_samples) {
  stopped_ = stopped_ || stop_();
  if (stopped_) return std::nullopt;
  Trial trial;
  trial.time = run.sample();
  trial.lost = backend_.lost().value_or(Seconds(0));
  if (!throttled()) return trial;
  ++throttled_samples;
  return std::nullopt;
}

// It is short, so that it is tried again at once when it was disturbed.
std::optional<Trial> Sampler::sample_of_stream(Run& stream) {
  for (int attempt = 0; attempt < kStreamAttempts; ++attempt) {
    const auto trial = sample(stream, stream_.discarded);
    if (!trial) return std::nullopt;
    if (!trial->disturbed(rules_)) {
      stream_.times.push_back(trial->time);
      return trial;
    }
    ++stream_.disturbed;
  }
  return std::nullopt;
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
  std::vector<std::vector<Trial>> trials(runs.size());
  stopped_ = false;
  const auto done = [&](std::size_t i) {
    return settled(all[i], trials[i].size() + all[i].discarded);
  };
  for (std::size_t round = 0; !stopped_ && !all_of_first(runs.size(), done); ++round) {
    const auto beside = stream ? sample_of_stream(*stream) : std::nullopt;
    for (const std::size_t i : order(runs.size(), round)) {
      if (done(i)) continue;
      auto trial = sample(*runs[i], all[i].discarded);
      if (!trial) continue;
      if (beside) {
        trial->stream = beside->time;
        trial->of_stream = rate(*runs[i], trial->time) / rate(*stream, beside->time);
      }
      trials[i].push_back(*trial);
      keep(trials[i], all[i], rules_, 0);
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) keep(trials[i], all[i], rules_, kFewest);
  return all;
}

}  // namespace kvplan
