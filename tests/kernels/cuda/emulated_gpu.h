// SPDX-License-Identifier: Apache-2.0
// A Gpu that runs the kernels on the CPU, one block after the other.
#pragma once
#include <map>
#include <memory>
#include <vector>

#include "kernels/cuda/emulation/memory.h"
#include "kernels/cuda/gpu.h"

namespace kvplan {

class EmulatedGpu : public Gpu {
 public:
  explicit EmulatedGpu(emulation::Settings& settings) : settings_(settings) {}

  DeviceSpec spec() const override;
  GpuLimits limits() const override;
  std::optional<Hertz> clock() override { return std::nullopt; }
  std::vector<std::string> missing() const override { return {}; }
  std::byte* allocate(Bytes) override;
  void free(std::byte*) noexcept override;
  void upload(std::byte* to, std::span<const std::byte> from) override;
  void download(std::span<std::byte> to, const std::byte* from) override;
  void copy(std::byte* to, const std::byte* from, Bytes) override;
  void set(std::byte* to, std::byte value, Bytes) override;
  int resident_blocks(const Kernel&) override { return 2; }
  void launch(const Kernel&, Grid, const void* args) override;
  std::unique_ptr<GemmPlan> gemm(const GemmSpec&) override;  // plain loops, 16-bit types
  std::unique_ptr<Recording> record(const std::function<void()>& enqueue) override;
  void finish() override {}

 private:
  emulation::Settings& settings_;
};

}  // namespace kvplan
