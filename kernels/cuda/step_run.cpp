// SPDX-License-Identifier: Apache-2.0
// Several problems as one launch, as the operators of a step follow each other. Each reads the
// bytes after those of the one before, so that none finds its own in the cache.
#include <algorithm>
#include <string>

#include "kernels/cuda/run.h"

namespace kvplan {
namespace {

class StepRun : public Run {
 public:
  StepRun(const GpuContext& context, std::vector<std::unique_ptr<GpuRun>> parts)
      : context_(context), parts_(std::move(parts)) {}

  Work work() const override {
    Work all;
    for (const auto& part : parts_) {
      const Work one = part->work();
      all.distinct += one.distinct;
      all.moved += one.moved;
      all.flops += one.flops;
    }
    return all;
  }
  double error() override {
    double worst = 0;
    for (const auto& part : parts_) worst = std::max(worst, part->error());
    return worst;
  }
  Seconds sample() override {
    if (!recording_) {
      recording_ = context_.gpu.record([this] {
        std::int64_t at = 0;
        for (const auto& part : parts_) {
          if (at + part->slot_bytes().n > context_.arena.size().n) at = 0;
          part->enqueue(context_.arena.data() + at);
          at += part->slot_bytes().n;
        }
      });
      recording_->play();  // the first launch loads the kernels
    }
    flush_ = flush_ ? std::move(flush_) : context_.gpu.record([this] { context_.arena.flush(); });
    flush_->play();
    return recording_->play();
  }
  std::string description() const override {
    return std::to_string(parts_.size()) + " operators in one graph, cache flushed before";
  }

 private:
  GpuContext context_;
  std::vector<std::unique_ptr<GpuRun>> parts_;
  std::unique_ptr<Recording> recording_, flush_;
};

}  // namespace

std::unique_ptr<Run> step_run_cuda(const GpuContext& context,
                                   std::vector<std::unique_ptr<GpuRun>> parts) {
  return std::make_unique<StepRun>(context, std::move(parts));
}

}  // namespace kvplan
