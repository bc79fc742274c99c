// SPDX-License-Identifier: Apache-2.0
// Streams: every variant is tried when the first sample is asked for, and the fastest is kept.
#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/cuda/kernels.h"
#include "kernels/cuda/run.h"

namespace kvplan {
namespace {

constexpr int kTrials = 3;

class StreamRun : public GpuRun {
 public:
  StreamRun(const GpuContext& context, Bytes bytes, bool copy)
      : GpuRun(context, bytes * (copy ? 2 : 1)),
        bytes_(bytes),
        copy_(copy),
        kernels_(copy ? copy_kernels_cuda() : read_kernels_cuda()),
        sums_(context.gpu,
              Bytes(most_threads() * static_cast<std::int64_t>(sizeof(std::uint32_t)))) {}

  Work work() const override {
    Work work;
    work.distinct = work.moved = bytes_ * (copy_ ? 2 : 1);
    work.op = copy_ ? OperatorClass::stream_copy : OperatorClass::stream_read;
    return work;
  }

  double error() override {
    double wrong = 0;
    for (const Kernel& kernel : kernels_) {
      kernel_ = &kernel;
      sums_.poison();
      const std::byte* slot = run_once();
      wrong += !(copy_ ? copied(slot) : summed(slot));
    }
    kernel_ = nullptr;
    return 2 * wrong;  // nothing about a stream may be off
  }

  Seconds sample() override {
    if (!kernel_) choose();
    return GpuRun::sample();
  }

  std::string description() const override {
    return kernel_ ? std::string(kernel_->name) + " (best of " + std::to_string(kernels_.size()) +
                         "), " + std::to_string(blocks(*kernel_)) + " blocks, " + rotation()
                   : rotation();
  }

 private:
  void enqueue(std::byte* slot) override {
    StreamArgs args;
    args.from = slot;
    args.to = slot + bytes_.n;
    args.sums = sums_.as<std::uint32_t>();
    args.chunks = bytes_.n / kChunkBytes;
    const Kernel& kernel = kernel_ ? *kernel_ : kernels_.front();
    context_.gpu.launch(kernel, {static_cast<unsigned>(blocks(kernel))}, &args);
  }

  std::int64_t blocks(const Kernel& kernel) const { return resident_blocks(kernel); }
  std::int64_t most_threads() const {
    std::int64_t most = 0;
    for (const Kernel& kernel : kernels_) most = std::max(most, blocks(kernel) * kernel.threads);
    return most;
  }

  void choose() {
    Seconds fastest(std::numeric_limits<double>::infinity());
    const Kernel* best = nullptr;
    for (const Kernel& kernel : kernels_) {
      kernel_ = &kernel;
      forget_recording();
      for (int trial = 0; trial < kTrials; ++trial)
        if (const Seconds time = GpuRun::sample(); time < fastest) {
          fastest = time;
          best = &kernel;
        }
    }
    kernel_ = best;
    forget_recording();
  }

  std::vector<std::byte> host(const std::byte* from) const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(bytes_.n));
    context_.gpu.download(bytes, from);
    return bytes;
  }
  bool copied(const std::byte* slot) const { return host(slot) == host(slot + bytes_.n); }
  bool summed(const std::byte* slot) const {
    std::vector<std::uint32_t> parts(static_cast<std::size_t>(blocks(*kernel_) * kernel_->threads));
    sums_.read(std::span(parts));
    const std::vector<std::byte> bytes = host(slot);
    std::vector<std::uint32_t> words(bytes.size() / sizeof(std::uint32_t));
    std::memcpy(words.data(), bytes.data(), words.size() * sizeof(std::uint32_t));
    return std::accumulate(parts.begin(), parts.end(), 0u) ==
           std::accumulate(words.begin(), words.end(), 0u);
  }

  Bytes bytes_;
  bool copy_;
  std::span<const Kernel> kernels_;
  GpuBuffer sums_;  // of each thread
  const Kernel* kernel_ = nullptr;
};

class LaunchRun : public GpuRun {
 public:
  explicit LaunchRun(const GpuContext& context) : GpuRun(context, Bytes(1)) {}
  Work work() const override { return {}; }
  double error() override { return 0; }
  std::string description() const override { return "empty kernels, one after the other"; }

 private:
  void enqueue(std::byte*) override {
    const StreamArgs args;
    context_.gpu.launch(empty_kernel(), {}, &args);
  }
};

}  // namespace

std::unique_ptr<GpuRun> stream_run_cuda(const GpuContext& context, const StreamShape& shape) {
  return std::make_unique<StreamRun>(context, Bytes(round_up(shape.bytes.n, kChunkBytes)),
                                     shape.copy);
}

std::unique_ptr<GpuRun> launch_run_cuda(const GpuContext& context) {
  return std::make_unique<LaunchRun>(context);
}

}  // namespace kvplan
