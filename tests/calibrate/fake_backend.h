// SPDX-License-Identifier: Apache-2.0
// A backend whose samples are written down beforehand: the harness is tested without a clock.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"

namespace kvplan {

// Repeats its script; `log` notes the name of each sample as it is taken.
struct FakeRun : Run {
  FakeRun(std::string n, Bytes b, std::vector<double> s, std::vector<std::string>* l = nullptr)
      : name(std::move(n)), bytes(b), script(std::move(s)), log(l) {}

  Work work() const override {
    Work w;
    w.distinct = w.moved = bytes;
    return w;
  }
  double error() override { return wrong; }
  Seconds sample() override {
    if (log) log->push_back(name);
    return Seconds(script[taken++ % script.size()]);
  }
  std::string description() const override { return name; }

  std::string name;
  Bytes bytes;
  std::vector<double> script;
  std::vector<std::string>* log;
  std::size_t taken = 0;
  double wrong = 0;
};

struct FakeBackend : Backend {
  std::string name() const override { return "fake"; }
  DeviceSpec device() const override { return spec; }
  std::unique_ptr<Run> prepare(const Problem& problem) override {
    return make ? make(problem) : nullptr;
  }
  std::unique_ptr<Run> prepare_step(const std::vector<Problem>& problems) override {
    return make_step ? make_step(problems) : nullptr;
  }
  std::optional<Hertz> clock() override {
    if (clocks.empty()) return std::nullopt;
    return Hertz(clocks[asked++ % clocks.size()]);
  }
  std::optional<Seconds> lost() override {
    if (losses.empty()) return std::nullopt;
    return Seconds(losses[sampled++ % losses.size()]);
  }
  std::optional<double> other_load() override { return load; }
  std::optional<Bytes> buffers() override { return size; }

  DeviceSpec spec;
  std::function<std::unique_ptr<Run>(const Problem&)> make;
  std::function<std::unique_ptr<Run>(const std::vector<Problem>&)> make_step;
  std::vector<double> clocks;
  std::vector<double> losses;  // seconds, of one sample after the other
  std::size_t asked = 0, sampled = 0;
  std::optional<double> load;
  std::optional<Bytes> size;
};

}  // namespace kvplan
