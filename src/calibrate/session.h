// SPDX-License-Identifier: Apache-2.0
// A calibration of one device: streams first, then each series of shapes, every kernel checked
// against the reference before it is timed.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/sampling.h"
#include "calibrate/shapes.h"
#include "error.h"

namespace kvplan {

struct SessionOptions {
  Effort effort = Effort::usual;
  Seconds budget{60};  // for all: sampling with its checks, the fit, whole steps
  SamplingRules rules;

  // What sampling may take of it.
  Seconds for_sampling() const { return budget * 0.6; }
};

// What connects a calibration to whoever waits for it.
struct Attendance {
  std::function<void(double done, std::string_view what)> progress;
  std::function<bool()> interrupted;
  std::function<Seconds()> now;
};

struct SampledShape {
  std::string series;  // "weights bf16"
  Problem problem;
  std::string how;  // kernel, instruction set, threads
  Samples samples;
  std::optional<Arithmetic> arithmetic = std::nullopt;  // what its products are made of
};

// The most that the device multiplies and adds, in registers alone.
struct ArithmeticPeak {
  Arithmetic arithmetic;
  FlopsPerSecond rate;
};

struct Session {
  DeviceSpec device;
  std::string backend;
  SampledShape read, copy, launch;
  std::vector<SampledShape> shapes;
  std::vector<ArithmeticPeak> peaks;
  std::vector<std::string> absent;   // series that no kernel runs here
  bool partial = false;              // interrupted
  std::size_t discarded = 0;         // throttled samples
  std::size_t disturbed = 0;         // samples thrown away since others had the processor
  std::size_t admitted = 0;          // disturbed ones that were kept for want of better
  std::optional<double> other_load;  // share of the processors
  std::optional<Bytes> buffers;
  std::vector<std::string> missing;  // libraries
  SamplingRules rules;

  void count(const Samples&);                                // its discards
  std::optional<double> of_peak(const SampledShape&) const;  // at its median; empty when unknown
  BytesPerSecond stream_rate() const;  // median of `read`, which must not be empty
};

// Bytes of a stream that is read beside the shapes: long enough to be timed, short beside a round.
Bytes stream_bytes(Backend&);

// Throws Error when a kernel disagrees with the reference, or the device fails.
Session run_session(Backend&, const SessionOptions&, const Attendance&);

}  // namespace kvplan
