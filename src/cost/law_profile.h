// SPDX-License-Identifier: Apache-2.0
// What a calibration found out about a device: a law per operator class and format, how wrong it
// was on shapes that it never saw, and hence how far to trust it.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/device.h"
#include "cost/laws.h"
#include "cost/profile.h"

namespace kvplan {

// Measured / predicted of predictions up to this time: the quantiles around the nominal coverage.
struct Band {
  Seconds up_to;
  double low = 1, high = 1;
};

struct Quality {
  std::size_t samples = 0;
  double median_ape = 0, p90_ape = 0;  // |predicted - measured| / measured
  double coverage = 0;                 // share of samples inside their interval
};

struct LawFit {
  std::string op;       // class: "weight_stream", "gemm", "decode_attention", …
  std::string format;   // of the weights or of the cache
  std::string variant;  // a library, where that matters; mostly empty
  OperatorLaw law;
  double nominal = 0.8;            // coverage of the bands
  std::vector<Band> bands;         // by time, the last one for all that is longer
  std::size_t samples = 0;         // that it was fitted to
  Quality left_out;                // on axis values (batch, heads, …) left out of a fit in turn
  std::optional<Quality> holdout;  // on a table that was given to judge
};

struct LawProfile {
  std::string device;
  std::string origin;   // of the measurements: this machine, or who published them
  std::string licence;  // of published ones
  std::string date;
  std::vector<LawFit> fits;

  // The fit for weights or caches in this format: its own name first, then one of as many bits.
  const LawFit* find(std::string_view op, const Format&, std::string_view variant = {}) const;
  // Time of one launch in a step of a model (caches cold). Empty without a fit.
  std::optional<Estimate> time(const GemmShape&) const;
  std::optional<Estimate> time(const DecodeAttentionShape&) const;
  std::optional<Estimate> time(const PrefillAttentionShape&) const;
  std::optional<Estimate> time(const LatentDecodeShape&) const;
  std::optional<Estimate> time(const MoeShape&) const;
};

Estimate with_band(const LawFit&, Seconds predicted);
std::string_view class_of(const GemmShape&);

// The same laws on a sibling: bandwidths, arithmetic and cache by the ratios of the datasheets,
// fixed costs as they are. Every band is widened by what such a transfer was measured to err.
LawProfile transferred(const LawProfile&, const DeviceSpec& from, const DeviceSpec& to);

}  // namespace kvplan
