// SPDX-License-Identifier: Apache-2.0
// What a calibration found out about a device: a law per operator class and format, how wrong it
// was on shapes that it never saw, and hence how far to trust it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/correction.h"
#include "cost/laws.h"
#include "cost/measured.h"

namespace kvplan {

struct Estimate {
  Seconds value, low, high;
  double coverage = 0;  // share of unseen measurements meant to lie within [low, high]
};
// One after the other. Bounds add, as if all errors pointed the same way; coverage is the smaller.
Estimate operator+(const Estimate&, const Estimate&);
Estimate operator*(double times, const Estimate&);

// Measured / predicted of predictions up to this time: the quantiles around the nominal coverage.
struct Band {
  Seconds up_to;
  double low = 1, high = 1;

  friend bool operator==(const Band&, const Band&) = default;
};

// What was measured along one axis (axes_of), and by how much the interval widens with each octave
// beyond it.
struct Edge {
  struct Widening {
    double low = 1, high = 1;
    friend bool operator==(const Widening&, const Widening&) = default;
  };
  std::int64_t least = 1, most = 1;
  Widening below, above;

  friend bool operator==(const Edge&, const Edge&) = default;
};

struct Quality {
  std::int64_t samples = 0;
  double median_ape = 0, p90_ape = 0;  // |predicted - measured| / measured
  double coverage = 0;                 // share of samples inside their interval

  friend bool operator==(const Quality&, const Quality&) = default;
};

struct Fit {
  OperatorClass op = OperatorClass::gemm;
  std::string format;   // of the weights or of the cache; empty for collectives
  std::string variant;  // a collective and its library; else empty
  OperatorLaw law;
  std::optional<Correction> correction;  // of a law of products, where enough shapes were measured
  double nominal = 0.8;                  // coverage that the bands aim at
  std::vector<Band> bands;               // by time, the last one for all that is longer
  std::vector<Edge> edges;               // by axis; empty: unknown, and intervals do not widen
  std::int64_t samples = 0;
  // On axis values (batch, heads, n, …) left out of a fit in turn; empty with too few of them.
  std::optional<Quality> left_out;
  std::optional<Quality> holdout;  // on a table that was given to judge

  // Of a predicted time for a shape: the band of the time, wider beyond the edges.
  Estimate around(Seconds predicted, const Shape&) const;
  friend bool operator==(const Fit&, const Fit&) = default;
};

// Of one launch. Throws Error for a shape that the law does not describe.
Seconds time(const Fit&, const Shape&, Caches = Caches::cold);

struct Profile {
  std::string device;      // name of the DeviceSpec that it was measured on
  std::string title;       // as the machine calls itself
  std::string machine;     // driver, clocks, cores: what else identifies it
  std::string origin;      // of the measurements: this machine, or who published them
  std::string licence;     // of published ones
  std::string date;        // of the fit, "2026-11-30"
  std::string written_by;  // version of the program
  std::optional<BytesPerSecond> stream_read, stream_copy;
  std::optional<Seconds> launch;  // of an empty kernel
  std::vector<Fit> fits;
  std::vector<Measured> measured;  // where no public table holds them

  // The fit for weights or caches in this format: its own name first, then, but for experts, one of
  // as many bits that keeps its scales in the same way, and takes nearly as many bytes.
  const Fit* find(OperatorClass, const Format&) const;
  // Of a variant: the name of a recurrence, the cache of a sparse attention with these weights.
  const Fit* find(OperatorClass, std::string_view variant, const Format* = nullptr) const;
  // Time of one launch in a step of a model (caches cold). Empty without a fit.
  std::optional<Estimate> time(const Shape&) const;
  friend bool operator==(const Profile&, const Profile&) = default;
};

}  // namespace kvplan
