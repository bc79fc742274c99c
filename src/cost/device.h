// SPDX-License-Identifier: Apache-2.0
// A device as its datasheet has it. Peaks are dense and the highest defensible published values; a
// measured figure is never a peak. What is not known is absent.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/format.h"
#include "units.h"

namespace kvplan {

enum class Basis { exact, ceiling, calibrated, engine_rule, published, assumed };

template <class T>
struct Fact {
  T value{};
  std::string source;       // document or measurement, with its date where it matters
  bool unverified = false;  // general knowledge, no page was opened
};

struct Peak {
  Precision precision;
  bool half_accumulate = false;  // fp16 products summed in fp16: GeForce runs these twice as fast
  Fact<FlopsPerSecond> rate;
};

struct Link {
  std::string kind;  // "NVLink4", "PCIe5 x16"
  Fact<BytesPerSecond> per_direction;
  std::optional<std::int64_t> gpus = {};  // that one board, bridge or rack joins so; if known
};

struct Price {
  double usd_per_hour_low = 0, usd_per_hour_high = 0;
  std::string where, date;
};

struct DeviceSpec {
  std::string name;                        // canonical, as people say it: "rtx-4090", "h100-sxm"
  std::string title;                       // "NVIDIA GeForce RTX 4090"
  std::string vendor, kind, architecture;  // kind: gpu, soc, cpu, accelerator
  Fact<Bytes> memory_marketed;
  Fact<Bytes> memory;              // that a program can see: framework total, else driver total
  Fact<BytesPerSecond> bandwidth;  // peak
  std::optional<Fact<BytesPerSecond>> bandwidth_measured;
  std::vector<Peak> peaks;
  std::optional<Fact<Bytes>> last_level_cache;
  std::optional<Link> peer;  // GPU to GPU
  std::optional<Link> host;  // to host memory
  std::optional<double> watts;
  std::optional<Price> price;
  std::optional<int> year;
  std::optional<std::int64_t> processors;  // SMs, compute units, cores
  std::optional<std::string> compute_capability;

  // Fastest arithmetic that any engine may use for products of weights in this format: the weight's
  // own unit or a wider one, and every narrower unit only where the weights are that narrow. Empty
  // when the datasheet says nothing.
  std::optional<FlopsPerSecond> peak_for(const Format& weights) const;

  // Whether engines join several of them: cards, and systems with a link to their like.
  bool joins_others() const { return kind == "gpu" || kind == "accelerator" || peer; }
};

}  // namespace kvplan
