// SPDX-License-Identifier: Apache-2.0
// One large buffer that all runs read, cut into a region per thread. Each thread writes its region
// first, so that the pages lie in its own memory, and later reads only that.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/team.h"
#include "units.h"

namespace kvplan {

class Arena {
 public:
  // Throws Error when the memory cannot be had. Filled with numbers that are fair in any format.
  Arena(Team&, Bytes size);
  ~Arena();
  Arena(const Arena&) = delete;  // owns the mapping
  Arena& operator=(const Arena&) = delete;

  Bytes region_bytes() const { return Bytes(static_cast<std::int64_t>(region_)); }
  Bytes bytes() const { return Bytes(static_cast<std::int64_t>(region_) * threads_); }
  std::byte* region(int thread) const { return base_ + region_ * static_cast<std::size_t>(thread); }

 private:
  std::byte* base_ = nullptr;
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0, region_ = 0;
  int threads_ = 0;
};

// Where a run's bytes lie in every region: slots of equal size, used in turn, so that what the
// caches still hold is not what the next sample reads.
class Rotation {
 public:
  // `bytes_per_thread` of the largest share. Throws Error when a region is too small for one slot.
  Rotation(const Arena&, Bytes bytes_per_thread);

  std::int64_t slots() const { return slots_; }
  void advance() { slot_ = (slot_ + 1) % slots_; }
  std::byte* of(int thread) const;

 private:
  const Arena& arena_;
  std::int64_t stride_ = 0, slots_ = 0, slot_ = 0;
};

}  // namespace kvplan
