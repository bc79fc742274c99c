// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/run.h"

#include <algorithm>

#include "kernels/cuda/kernels.h"

namespace kvplan {
namespace {

constexpr int kLaunches = 10;

}  // namespace

GpuRun::GpuRun(const GpuContext& context, Bytes slot)
    : context_(context), slots_(context.arena, slot, context.gpu.limits().last_level_cache) {}

// Where the slots in turn do not make the cache cold, it is flushed before each recording, and a
// recording uses each slot once.
Seconds GpuRun::sample() {
  const auto launches = static_cast<int>(slots_.cold() ? round_up(kLaunches, slots_.count())
                                                       : std::min(kLaunches, slots_.count()));
  if (!recording_) {
    recording_ = context_.gpu.record([&] {
      for (int i = 0; i < launches; ++i) enqueue(slots_.at(next_ + i));
    });
    if (!slots_.cold()) flush_ = context_.gpu.record([&] { context_.arena.flush(); });
    recording_->play();  // the first launch loads the kernel
  }
  if (flush_) flush_->play();
  return recording_->play() / launches;
}

std::byte* GpuRun::run_once() {
  std::byte* const slot = slots_.at(next_++);
  enqueue(slot);
  context_.gpu.finish();
  return slot;
}

std::string GpuRun::rotation() const {
  return std::to_string(slots_.count()) + " buffers in turn" +
         (slots_.cold() ? "" : ", cache flushed between");
}

int GpuRun::resident_blocks(const Kernel& kernel) const {
  return context_.gpu.limits().processors * context_.gpu.resident_blocks(kernel);
}

bool runs(const GpuContext& context, const Kernel& kernel, bool needs_sm80) {
  const GpuLimits limits = context.gpu.limits();
  return Bytes(kernel.shared_bytes) <= limits.shared_per_block &&
         (!needs_sm80 || limits.capability >= 80);
}

}  // namespace kvplan
