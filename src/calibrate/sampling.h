// SPDX-License-Identifier: Apache-2.0
// Order, repetition and stopping of samples. Runs take turns in rounds that each begin with the
// stream, so that a ratio to it compares neighbours in time and not a fast minute with a slow one.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "calibrate/statistics.h"
#include "kernels/backend.h"

namespace kvplan {

struct SamplingRules {
  std::size_t least = 7, most = 21;  // samples of a run
  double noise = 0.10;               // (p90 - p10) / median at which a run has enough of them
  double clock_share = 0.75;         // of the highest clock seen; below it, a sample is thrown away
  double lost_share = 0.01;          // of its time that others had the processor; above it, too
  Seconds lost_least{20e-6};         // what a kernel's own housekeeping takes is no reason
  std::uint64_t seed = 1;            // order within a round
};

// One sample of a run.
struct Trial {
  Seconds time, lost;               // lost: others had the processor
  std::optional<Seconds> stream;    // time of the stream in the same round; empty if disturbed
  std::optional<double> of_stream;  // its bytes per second / those of that stream

  bool disturbed(const SamplingRules&) const;
};

// Which trials to keep, by index and in order: the undisturbed ones. Where those are fewer than
// `fewest`, as many as that, those that lost the smallest share.
std::vector<std::size_t> trials_to_keep(const std::vector<Trial>&, const SamplingRules&,
                                        std::size_t fewest);

// What was taken of one run, in order of rounds.
struct Samples {
  std::vector<Seconds> times;
  std::vector<double> of_stream;
  std::vector<Seconds> stream;
  std::size_t discarded = 0;  // throttled
  std::size_t disturbed = 0;  // thrown away since others had the processor meanwhile
  std::size_t admitted = 0;   // kept in spite of that, since too few were undisturbed
  // Spreads of the two; times is not empty.
  Spread spread() const;
  std::optional<Spread> stream_share() const;
  bool noisy(const SamplingRules&) const;
};

class Sampler {
 public:
  // `stop` is asked before each sample: Ctrl-C, or no time left.
  Sampler(Backend&, const SamplingRules&, std::function<bool()> stop);

  // Samples of each run in turn; runs that were not reached have none. `stream` may be nullptr.
  // What disturbs a machine all the time does not keep it from coming to an end.
  std::vector<Samples> rounds(Run* stream, const std::vector<Run*>& runs);
  // All samples of the stream so far.
  const Samples& stream() const { return stream_; }
  // Whether the last rounds were cut short.
  bool stopped() const { return stopped_; }

 private:
  bool settled(const Samples&, std::size_t trials) const;
  std::optional<Trial> sample(Run&, std::size_t& throttled_samples);
  std::optional<Trial> sample_of_stream(Run&);
  std::vector<std::size_t> order(std::size_t runs, std::size_t round) const;
  bool throttled();

  Backend& backend_;
  SamplingRules rules_;
  std::function<bool()> stop_;
  Samples stream_;
  std::optional<Hertz> highest_clock_;
  bool stopped_ = false;
};

}  // namespace kvplan
