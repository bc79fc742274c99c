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
  // Offset of the next `length` bytes of every region. The cursor passes the whole arena before it
  // comes back, so that what the caches still hold is not what anybody reads next.
  std::int64_t next(std::int64_t length);

 private:
  std::byte* base_ = nullptr;
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0, region_ = 0;
  std::int64_t cursor_ = 0;
  int threads_ = 0;
};

// Where a run's bytes lie this time, in every region.
class Place {
 public:
  // `bytes_per_thread` of the largest share. Throws Error when a region is too small for it.
  Place(Arena&, Bytes bytes_per_thread);

  void advance() { offset_ = arena_.next(length_); }
  std::byte* of(int thread) const { return arena_.region(thread) + offset_; }

 private:
  Arena& arena_;
  std::int64_t length_, offset_ = 0;
};

}  // namespace kvplan
