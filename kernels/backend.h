// SPDX-License-Identifier: Apache-2.0
// What a machine can run, one cold timed sample at a time. The harness owns order, repetition,
// stopping and statistics.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "cost/device.h"
#include "cost/shape.h"
#include "cost/work.h"
#include "units.h"

namespace kvplan {

struct StreamShape {
  Bytes bytes;        // per buffer
  bool copy = false;  // read and write instead of read
};
struct LaunchShape {};  // an empty kernel, or an empty parallel region

using Problem = std::variant<StreamShape, GemmShape, DecodeAttentionShape, LatentDecodeShape,
                             PrefillAttentionShape, LaunchShape>;

struct Run {
  virtual ~Run() = default;
  virtual Work work() const = 0;
  // Largest error against the double-precision reference, relative to the tolerance of the format:
  // <= 1 is correct.
  virtual double error() = 0;
  // One cold launch. Throws Error when the device fails.
  virtual Seconds sample() = 0;
  // How it ran, for the record: kernel, grid, bytes in flight, instruction set.
  virtual std::string description() const = 0;
};

struct Backend {
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  virtual DeviceSpec device() const = 0;
  // nullptr when this backend has no kernel for the problem.
  virtual std::unique_ptr<Run> prepare(const Problem&) = 0;
};

struct BackendChoice {
  std::string name;
  std::unique_ptr<Backend> backend;  // or nullptr, and
  std::string why_not;               // "built without CUDA", "no NVIDIA driver, or too old"
};
// In order of preference: CUDA devices, then the CPU.
std::vector<BackendChoice> all_backends();

}  // namespace kvplan
