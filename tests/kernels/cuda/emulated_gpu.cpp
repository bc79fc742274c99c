// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/emulated_gpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "kernels/cuda/emulation/block.h"
#include "kernels/numbers.h"

namespace kvplan {
namespace {

constexpr std::size_t kAlignment = 256;  // of cudaMalloc

// Counts plays: there is no time to measure.
struct Replay : Recording {
  explicit Replay(std::function<void()> what) : enqueue(std::move(what)) {}
  Seconds play() override {
    enqueue();
    return Seconds(1);
  }
  std::function<void()> enqueue;
};

struct PlainGemm : GemmPlan {
  explicit PlainGemm(const GemmSpec& what) : spec(what) {}
  void enqueue(const std::byte* w, const std::byte* x, std::byte* y) override {
    const bool bf16 = spec.type == GemmSpec::bf16;
    const auto number = [&](const std::byte* from, std::int64_t i) {
      std::uint16_t bits;
      std::memcpy(&bits, from + 2 * i, sizeof(bits));
      return bf16 ? from_bf16(bits) : from_fp16(bits);
    };
    for (std::int64_t m = 0; m < spec.m; ++m)
      for (std::int64_t n = 0; n < spec.n; ++n) {
        float sum = 0;
        for (std::int64_t k = 0; k < spec.k; ++k)
          sum += number(x, m * spec.k + k) * number(w, n * spec.k + k);
        const std::uint16_t bits = bf16 ? to_bf16(sum) : to_fp16(sum);
        std::memcpy(y + 2 * (m * spec.n + n), &bits, sizeof(bits));
      }
  }
  std::string description() const override { return "plain loops"; }
  GemmSpec spec;
};

}  // namespace

std::unique_ptr<GemmPlan> EmulatedGpu::gemm(const GemmSpec& spec) {
  return std::make_unique<PlainGemm>(spec);
}

DeviceSpec EmulatedGpu::spec() const {
  DeviceSpec spec;
  spec.name = spec.title = "emulated";
  spec.kind = "gpu";
  return spec;
}

GpuLimits EmulatedGpu::limits() const {
  GpuLimits limits;
  limits.processors = 4;
  limits.capability = 80;
  limits.shared_per_block = Bytes(99 * kKiB);  // the smallest among sm_80 and later
  limits.last_level_cache = Bytes(64 * kKiB);
  limits.free_memory = Bytes(64 * kMiB);
  return limits;
}

std::byte* EmulatedGpu::allocate(Bytes size) {
  const auto bytes = static_cast<std::size_t>(size.n);
  void* at = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  settings_.memory[reinterpret_cast<std::uintptr_t>(at)] = bytes;
  return static_cast<std::byte*>(at);
}
void EmulatedGpu::free(std::byte* at) noexcept {
  settings_.memory.erase(reinterpret_cast<std::uintptr_t>(at));
  std::free(at);
}
void EmulatedGpu::upload(std::byte* to, std::span<const std::byte> from) {
  std::copy(from.begin(), from.end(), to);
}
void EmulatedGpu::download(std::span<std::byte> to, const std::byte* from) {
  std::copy_n(from, to.size(), to.begin());
}
void EmulatedGpu::copy(std::byte* to, const std::byte* from, Bytes size) {
  std::memcpy(to, from, static_cast<std::size_t>(size.n));
}
void EmulatedGpu::set(std::byte* to, std::byte value, Bytes size) {
  std::memset(to, std::to_integer<int>(value), static_cast<std::size_t>(size.n));
}

void EmulatedGpu::launch(const Kernel& kernel, Grid grid, const void* args) {
  if (Bytes(kernel.shared_bytes) > limits().shared_per_block)
    throw Error("a block of the kernel does not fit").of(kernel.name);
  const auto call = reinterpret_cast<void (*)(const void*)>(kernel.entry);
  try {
    emulation::launch(grid, kernel.threads, kernel.shared_bytes, settings_, [=] { call(args); });
  } catch (const std::runtime_error& e) {
    throw Error(e.what()).of(kernel.name);
  }
}

std::unique_ptr<Recording> EmulatedGpu::record(const std::function<void()>& enqueue) {
  return std::make_unique<Replay>(enqueue);
}

}  // namespace kvplan
