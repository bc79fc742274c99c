// SPDX-License-Identifier: Apache-2.0
// What whole steps and prompts take in an engine, as runs that people published teach: one small
// law a vendor, and by how much families of devices and single devices are off it.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cost/device.h"
#include "cost/expected.h"
#include "cost/launches.h"

namespace kvplan {

// A step or a prompt: kernels one after the other. Each takes launch + max(bytes / (share x
// bandwidth), flops / (share x peak)); a prompt reads its weights once for each micro-batch.
struct RunLaw {
  Seconds launch{5e-6};
  double expert_launches = 4;  // of the routed experts of one layer
  // Shares of the bandwidth, by the bits of a weight, of routed experts, of the cache.
  double sixteen = 0.8, eight = 0.8, fewer = 0.8, experts = 0.6, cache = 0.6;
  // Shares of the peak: of int8 below 16 bits where a device has it, else of 16 bits, or 32 where
  // that is higher. Prompts.
  double rate_sixteen = 0.4, rate_fewer = 0.4, rate_experts = 0.2, rate_attention = 0.2;

  template <class Law, class F>
  static void each(Law& law, F&& f) {
    f("launch_seconds", law.launch.v, 1e-7, 1e-3);
    f("expert_launches", law.expert_launches, 1.0, 30.0);
    f("sixteen_bits", law.sixteen, 0.02, 1.0);
    f("eight_bits", law.eight, 0.02, 1.0);
    f("fewer_bits", law.fewer, 0.02, 1.0);
    f("experts", law.experts, 0.02, 1.0);
    f("cache", law.cache, 0.02, 1.5);
    f("rate_sixteen_bits", law.rate_sixteen, 0.01, 1.0);
    f("rate_fewer_bits", law.rate_fewer, 0.01, 1.5);
    f("rate_experts", law.rate_experts, 0.01, 1.0);
    f("rate_attention", law.rate_attention, 0.005, 1.0);
  }
};

// What a run does, as the law asks it: once for each kernel that differs.
struct RunTerm {
  enum Of { sixteen, eight, fewer, experts, cache, attention } of = sixteen;
  std::int64_t count = 1;
  double passes = 1;  // launches of it
  Bytes bytes;
  Flops flops;
};
// A prompt passes the layers in micro-batches of so many tokens. Empty where a kernel is none that
// the law knows.
std::optional<std::vector<RunTerm>> run_terms(const Launches&, std::int64_t micro_batch);
// Of the device bandwidth and peaks count. Empty where it lacks a peak.
std::optional<Seconds> time(const RunLaw&, const std::vector<RunTerm>&, const DeviceSpec&);

enum class Phase { decode, prefill };

struct PublishedRuns {
  // Measured / predicted by the law of the vendor, on average, and of how many runs.
  struct Offset {
    double factor = 1;
    std::int64_t runs = 0;
  };
  struct Group {
    std::string name;
    std::array<std::optional<Offset>, 2> offsets;  // by phase
  };
  struct Vendor {
    std::string name;
    RunLaw law;
  };
  // Quantiles of measured / predicted of runs left out: of devices that other runs tell of, or that
  // only their family does; of one vendor's where there are enough, else of all.
  struct Width {
    Phase phase = Phase::decode;
    std::string vendor = {};
    bool own = true, experts = false;
    double low = 1, high = 1;
    std::int64_t runs = 0;
    double median_ape = 0, p90_ape = 0, coverage = 0;
  };

  std::string engine, origin, date;
  double nominal = 0.8;
  Tokens longest_context, shortest_prompt, longest_prompt;  // of runs
  std::vector<std::string> formats;                         // of weights in runs
  std::vector<Vendor> vendors;
  std::vector<Group> families, devices;
  std::vector<Width> widths;

  const RunLaw* law_of(const DeviceSpec&) const;
  const Offset* offset(const std::vector<Group>&, std::string_view name, Phase) const;
  const Width* width(Phase, std::string_view vendor, bool own, bool experts) const;
  std::pair<Tokens, Tokens> lengths(Phase) const;  // shortest and longest
};

// Devices whose kernels are much alike: "NVIDIA Ada", "AMD RDNA3", "Apple Max".
std::string run_family(const DeviceSpec&);
// One chip with any memory: "m3-max-40c" for the part with 48 GB too.
std::string run_device(const DeviceSpec&);

bool has_experts(const Launches&);

// One sequence on one device. `tokens` are those in its cache, or of the prompt.
struct RunAsked {
  Phase phase = Phase::decode;
  Tokens tokens;
  std::int64_t micro_batch = 512;
};
Expected expected(const Launches&, const PublishedRuns&, const DeviceSpec&, const RunAsked&);

}  // namespace kvplan
