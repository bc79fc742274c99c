// SPDX-License-Identifier: Apache-2.0
// The proof of a profile: steps of a small llama-shaped model, whose shapes no fit has seen, timed
// as a whole and held against what the profile predicts.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/session.h"
#include "cost/profile.h"

namespace kvplan {

// Products and attention of a step; norms and activation functions are not part of it.
struct SyntheticModel {
  std::int64_t layers = 4, hidden = 1792, heads = 14, kv_heads = 2, width = 128, inner = 4864,
               vocabulary = 24576;
};

struct StepCase {
  const Format* weights = nullptr;
  const Format* cache = nullptr;
  std::int64_t batch = 1, context = 0;  // tokens in the cache of a sequence
  std::int64_t prompt = 0;              // a prefill of one sequence where not 0
};

std::vector<Problem> problems_of(const SyntheticModel&, const StepCase&);
std::vector<StepCase> step_cases(Effort);

// Sum over the problems. Empty when the profile lacks one of their classes.
std::optional<Estimate> predicted(const Profile&, const std::vector<Problem>&);

struct StepProof {
  StepCase step;
  Estimate expected;
  Samples samples;
  std::optional<double> expected_of_stream;  // bytes per second / those of the profile's stream

  Seconds measured() const { return Seconds(samples.spread().median); }
  double error() const { return expected.value / measured() - 1; }
  // The same of the time in units of the stream: of the same round, and of the profile. What slows
  // the whole machine between fit and proof is not in it. Empty where no stream was undisturbed.
  std::optional<double> error_of_stream() const;
  // (p90 - p10) / median of the stream in the rounds of this step.
  std::optional<double> stream_noise() const;
  // Whether the machine was quiet enough: as many rounds as the rules ask, all undisturbed, in
  // which the stream varied by no more than they allow.
  bool judged(const SamplingRules&) const;
  bool inside() const { return measured() >= expected.low && measured() <= expected.high; }
};

constexpr std::size_t kLeastJudged = 6;  // steps that a verdict needs

struct Proof {
  std::vector<StepProof> steps;
  std::optional<double> stream_noise;  // (p90 - p10) / median of the stream meanwhile
  std::optional<double> median_error;  // |expected / measured - 1|; empty without steps

  std::vector<StepProof> judged(const SamplingRules&) const;
  bool too_noisy(const SamplingRules& rules) const { return judged(rules).size() < kLeastJudged; }
};

// Median of |error| over the steps that have one; empty when none has.
std::optional<double> median_error(const std::vector<StepProof>&);
std::optional<double> median_error_of_stream(const std::vector<StepProof>&);

// Steps that do not fit before `end` (of the attendance's clock) are left out.
Proof prove(Backend&, const Profile&, const SessionOptions&, const Attendance&, Seconds end);

}  // namespace kvplan
