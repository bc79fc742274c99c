// SPDX-License-Identifier: Apache-2.0
// Runs of tests/truth/measured_rates.yaml → what configs/runs ships.
#pragma once
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "cost/published_runs.h"

namespace kvplan::test {

struct PublishedRun {
  Phase phase = Phase::decode;
  DeviceSpec device;
  std::string model, weights, source;
  Tokens context{0};  // of a prompt, its length
  std::int64_t past = 0, batch = 1;
  std::int64_t gpus = 1;  // that share the layers
  Launches launches;
  std::vector<RunTerm> terms;  // empty where the law does not know them all
  Seconds measured, ceiling;
  bool old = false;  // built before CUDA graphs and flash attention by default
  bool vulkan = false;
  bool odd = false;  // far off what the same card reaches elsewhere: no part of the fit

  double rate(Seconds t) const {
    return (phase == Phase::decode ? static_cast<double>(batch) : context.real()) / t.v;
  }
};
std::vector<PublishedRun> published_runs(const Catalog&);

// One sequence. Of prompts neither Vulkan, which is up to three times as slow on the same card, nor
// blocks by builds that multiplied them otherwise (ggml-org/llama.cpp#7860).
bool teaches(const PublishedRun&);

// A run predicted by a fit without it: without its model on its device (own), or without its
// device.
struct LeftOut {
  const PublishedRun* run = nullptr;
  Seconds predicted;
  bool own = true;
};

// Laws by vendor, offsets of families and devices, and widths from runs left out.
struct RunFit {
  PublishedRuns runs;
  std::vector<LeftOut> left_out;
};
RunFit fitted(const std::vector<PublishedRun>&);

}  // namespace kvplan::test
