// SPDX-License-Identifier: Apache-2.0
// What all runs have in common, and several runs as one: a step of a model.
#include <algorithm>

#include "kernels/cpu/runs.h"

namespace kvplan {
namespace {

class StepRun : public CpuRun {
 public:
  StepRun(const CpuContext& context, std::vector<std::unique_ptr<CpuRun>> parts)
      : CpuRun(context), parts_(std::move(parts)) {}

  Work work() const override {
    Work sum;
    for (const auto& part : parts_) {
      const Work work = part->work();
      sum.distinct += work.distinct;
      sum.moved += work.moved;
      sum.flops += work.flops;
    }
    return sum;
  }

  double error() override {
    double worst = 0;
    for (const auto& part : parts_) worst = std::max(worst, part->error());
    return worst;
  }

  void place() override {
    for (const auto& part : parts_) part->place();
  }

  void work_on(int thread) override {
    for (const auto& part : parts_) {
      part->work_on(thread);
      context_.team.meet();
    }
  }

 private:
  std::vector<std::unique_ptr<CpuRun>> parts_;
};

}  // namespace

Seconds CpuRun::sample() {
  place();
  return context_.team.run([this](int thread) { work_on(thread); });
}

std::string CpuRun::description() const {
  return std::string(name_of(context_.isa)) + ", " + std::to_string(context_.team.size()) +
         " threads";
}

std::unique_ptr<CpuRun> step_run(const CpuContext& context,
                                 std::vector<std::unique_ptr<CpuRun>> parts) {
  return std::make_unique<StepRun>(context, std::move(parts));
}

}  // namespace kvplan
