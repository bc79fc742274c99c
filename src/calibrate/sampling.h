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
  std::uint64_t seed = 1;            // order within a round
};

// What was taken of one run, in order of rounds.
struct Samples {
  std::vector<Seconds> times;
  std::vector<double> of_stream;  // its bytes per second / those of the stream in the same round
  std::size_t discarded = 0;      // throttled
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
  std::vector<Samples> rounds(Run* stream, const std::vector<Run*>& runs);
  // All samples of the stream so far.
  const Samples& stream() const { return stream_; }
  // Whether the last rounds were cut short.
  bool stopped() const { return stopped_; }

 private:
  bool settled(const Samples&) const;
  std::optional<Seconds> sample(Run&, Samples&);
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
