// SPDX-License-Identifier: Apache-2.0
// What a machine can run, one cold timed sample at a time. The harness owns order, repetition,
// stopping and statistics.
#pragma once
#include <memory>
#include <optional>
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

// What the products of a kernel are made of: how many an instruction does depends on it.
enum class Arithmetic { floats, bf16_pairs, word_pairs, byte_quads, bf16_tiles, word_tiles };

struct Run {
  virtual ~Run() = default;
  virtual Work work() const = 0;
  // Largest error against the double-precision reference, relative to the tolerance of the format:
  // <= 1 is correct.
  virtual double error() = 0;
  // One cold launch. Throws Error when the device fails.
  virtual Seconds sample() = 0;
  // What its products are made of; empty when unknown.
  virtual std::optional<Arithmetic> arithmetic() const { return std::nullopt; }
  // How it ran, for the record: kernel, grid, bytes in flight, instruction set.
  virtual std::string description() const = 0;
};

struct Backend {
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  virtual DeviceSpec device() const = 0;
  // Memory that could be had now; empty when unknown.
  virtual std::optional<Bytes> free_memory() const { return std::nullopt; }
  // What problems read from: none may be larger. Empty when memory is taken as needed.
  virtual std::optional<Bytes> buffers() { return std::nullopt; }
  // nullptr when this backend has no kernel for the problem.
  virtual std::unique_ptr<Run> prepare(const Problem&) = 0;
  // The problems one after the other as one launch, none finding its bytes in a cache. nullptr when
  // it has no kernel for one of them.
  virtual std::unique_ptr<Run> prepare_step(const std::vector<Problem>&) { return nullptr; }
  // The most products of a kind that the device can do, two operations each, measured in registers
  // alone; empty where it has no such instruction, or it was not measured.
  virtual std::optional<FlopsPerSecond> peak(Arithmetic) { return std::nullopt; }
  // The clock that arithmetic runs at now; empty where it cannot be told. Throttling shows in it.
  virtual std::optional<Hertz> clock() { return std::nullopt; }
  // The longest that a thread of the last sample waited while others had its processor; empty when
  // unknown.
  virtual std::optional<Seconds> lost() { return std::nullopt; }
  // Share of the processors that others kept busy since the last call; empty when unknown.
  virtual std::optional<double> other_load() { return std::nullopt; }
  // Libraries that the backend looked for at run time and did not find, each with what that costs.
  virtual std::vector<std::string> missing() const { return {}; }
};

struct BackendChoice {
  std::string name;
  std::unique_ptr<Backend> backend;  // or nullptr, and
  std::string why_not;               // "built without CUDA", "no NVIDIA driver, or too old"
};
// In order of preference: CUDA devices, then the CPU.
std::vector<BackendChoice> all_backends();

}  // namespace kvplan
