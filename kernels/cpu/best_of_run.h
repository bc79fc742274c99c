// SPDX-License-Identifier: Apache-2.0
// Several ways to do the same: each is tried when the first sample is asked for, and the fastest is
// kept.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "kernels/cpu/runs.h"

namespace kvplan {

class BestOfRun : public CpuRun {
 public:
  using CpuRun::CpuRun;

  void place() final;
  void work_on(int thread) final { best_->run(thread); }
  std::string description() const override;
  std::optional<Arithmetic> arithmetic() const override {
    return best_ ? best_->arithmetic : std::nullopt;
  }

 protected:
  struct Variant {
    std::string name;
    std::function<void(int thread)> run;
    std::optional<Arithmetic> arithmetic = std::nullopt;
    Seconds fastest{1e9};
  };
  virtual void advance() = 0;  // to the next bytes of the arena
  // From new bytes, once.
  Seconds pass(const Variant&);
  // All variants but the first that `wrong` says so of go.
  void drop(const std::function<bool(const Variant&)>& wrong);

  std::vector<Variant> variants_;

 private:
  void choose();

  const Variant* best_ = nullptr;
};

}  // namespace kvplan
