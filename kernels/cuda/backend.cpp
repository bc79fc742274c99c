// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/backend.h"

#include <algorithm>

#include "kernels/cuda/run.h"
#include "kernels/overload.h"

namespace kvplan {
namespace {

constexpr std::int64_t kStreamedRows = 16;  // of x: more are a library's

// Room for a few problems that are much larger than the cache, and never more than a quarter of
// what is free.
Bytes default_buffers(const GpuLimits& limits) {
  const std::int64_t wanted = std::clamp(64 * limits.last_level_cache.n, 2 * kGiB, 8 * kGiB);
  return Bytes(std::min(wanted, limits.free_memory.n / 4));
}

class GpuBackend : public Backend {
 public:
  GpuBackend(std::function<std::unique_ptr<Gpu>()> open, const GpuOptions& options)
      : open_(std::move(open)), options_(options) {}

  std::string name() const override { return "cuda"; }
  DeviceSpec device() const override { return gpu().spec(); }

  std::optional<Bytes> free_memory() const override { return gpu().limits().free_memory; }
  std::optional<Bytes> buffers() override { return arena().size(); }
  std::optional<Hertz> clock() override { return gpu().clock(); }
  std::vector<std::string> missing() const override { return gpu().missing(); }

  std::unique_ptr<Run> prepare(const Problem& problem) override { return prepared(problem); }
  std::unique_ptr<Run> prepare_step(const std::vector<Problem>& problems) override {
    std::vector<std::unique_ptr<GpuRun>> parts;
    for (const Problem& problem : problems) {
      parts.push_back(prepared(problem));
      if (!parts.back()) return nullptr;
    }
    return step_run_cuda({gpu(), arena(), options_.block_tokens}, std::move(parts));
  }

 private:
  Gpu& gpu() const {
    if (!gpu_) gpu_ = open_();
    return *gpu_;
  }
  GpuArena& arena() {
    if (!arena_) {
      const GpuLimits limits = gpu().limits();
      arena_ = std::make_unique<GpuArena>(gpu(), options_.buffers.value_or(default_buffers(limits)),
                                          limits.last_level_cache);
    }
    return *arena_;
  }
  std::unique_ptr<GpuRun> prepared(const Problem& problem) {
    const GpuContext context{gpu(), arena(), options_.block_tokens};
    return std::visit(
        Overload{
            [&](const StreamShape& s) { return stream_run_cuda(context, s); },
            [&](const LaunchShape&) { return launch_run_cuda(context); },
            [&](const GemmShape& s) {
              return s.m <= kStreamedRows ? weight_stream_run_cuda(context, s)
                                          : gemm_run_cuda(context, s);
            },
            [&](const DecodeAttentionShape& s) { return decode_run_cuda(context, s); },
            [&](const LatentDecodeShape& s) { return latent_run_cuda(context, s); },
            [&](const PrefillAttentionShape& s) { return prefill_run_cuda(context, s); },
        },
        problem);
  }

  std::function<std::unique_ptr<Gpu>()> open_;
  mutable std::unique_ptr<Gpu> gpu_;
  GpuOptions options_;
  std::unique_ptr<GpuArena> arena_;
};

}  // namespace

std::unique_ptr<Backend> gpu_backend(std::function<std::unique_ptr<Gpu>()> open,
                                     const GpuOptions& options) {
  return std::make_unique<GpuBackend>(std::move(open), options);
}

}  // namespace kvplan
