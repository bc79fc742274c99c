// SPDX-License-Identifier: Apache-2.0
// What a calibration found out about one device, as pure functions: the expected time of an
// operator. Form after Hockney's t0 + bytes / rate, with a term each for serial work, few blocks
// and arithmetic.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/device.h"
#include "cost/shape.h"
#include "cost/work.h"

namespace kvplan {

struct Estimate {
  Seconds value, low, high;
  double coverage = 0;  // share of held-out measurements that lay within [low, high]
};
// One after the other. Bounds add, coverage is the smaller one.
Estimate operator+(const Estimate&, const Estimate&);
Estimate operator*(std::int64_t times, const Estimate&);

// What a fit needs to know of an operator.
struct Demand {
  Work work;
  const Format* format = nullptr;  // of the operand that dominates the bytes: weights, keys
  std::int64_t width = 0;          // head width of an attention, 0 where that means nothing
  double serial = 0;  // work that does not overlap with the rest: K of a product, rows of a cache
  double blocks = 1;  // parts that can run side by side
};
Demand demand_of(const GemmShape&);
Demand demand_of(const DecodeAttentionShape&);
Demand demand_of(const LatentDecodeShape&);
Demand demand_of(const PrefillAttentionShape&);
// `bytes` that leave one GPU in a reduction over `gpus`.
Demand demand_of_collective(Bytes bytes, std::int64_t gpus);
// `bytes` through memory, read only or read and written; 0 bytes: an empty kernel.
Demand demand_of_stream(Bytes bytes, bool copy);

// time = start + serial * per_serial + (memory^s + arithmetic^s)^(1/s), s = sharpness, where
// memory = bytes / (bandwidth_share * bandwidth) + bytes / blocks * per_block_byte and
// arithmetic = flops / (arithmetic_share * peak).
struct Fit {
  OperatorClass op = OperatorClass::gemm;
  std::string format;           // only for this one; empty = any
  std::int64_t width = 0;       // only for this head width; 0 = any
  Seconds start;                // launch and drain
  double bandwidth_share = 1;   // of the device's peak bandwidth (of its link, for collectives)
  double arithmetic_share = 1;  // of the fastest peak for the format
  Seconds per_serial;           // per serial step
  Seconds per_block_byte;       // of one block that has the device to itself
  double sharpness = 1;         // 1: memory and arithmetic add up; large: the longer one hides all
  // Measured / fitted on shapes that the fit never saw: `coverage` of them lay in between.
  double ratio_low = 1, ratio_high = 1, coverage = 0;
  std::int64_t samples = 0, holdout_samples = 0;
  double holdout_median_ape = 0, holdout_p90_ape = 0;

  Estimate time(const Demand&, const DeviceSpec&) const;
};

struct Profile {
  std::string device;  // name of the DeviceSpec it was measured on
  std::string source;  // file, or the public measurements behind it
  std::vector<Fit> fits;

  // By the fit that names the demand's format and width, else by the one that names neither. Empty
  // where the class was never measured.
  std::optional<Estimate> time(const Demand&, const DeviceSpec&) const;
};

}  // namespace kvplan
