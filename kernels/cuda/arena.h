// SPDX-License-Identifier: Apache-2.0
// One large piece of device memory that all runs read, filled with numbers that are fair in any
// format, and where a run's bytes lie in it.
#pragma once
#include "kernels/cuda/gpu.h"

namespace kvplan {

class GpuArena {
 public:
  // Beside `size`, memory to flush a cache of so many bytes with.
  GpuArena(Gpu&, Bytes size, Bytes cache);

  std::byte* data() const { return buffer_.data(); }
  Bytes size() const { return size_; }
  // Queues a copy of twice the cache to twice the cache.
  void flush() const;

 private:
  Gpu& gpu_;
  Bytes size_, flush_;
  GpuBuffer buffer_;
};

// Slots of equal size, used in turn: with three or more that together exceed the cache four times,
// nothing of the last pass is left in it.
class GpuSlots {
 public:
  // Throws Error when not even one slot fits.
  GpuSlots(const GpuArena&, Bytes slot, Bytes cache);

  int count() const { return count_; }
  // Whether the turn alone makes the cache cold.
  bool cold() const { return cold_; }
  Bytes stride() const { return Bytes(stride_); }
  std::byte* at(int slot) const { return base_ + slot % count_ * stride_; }

 private:
  std::byte* base_;
  std::int64_t stride_;
  int count_;
  bool cold_;
};

}  // namespace kvplan
