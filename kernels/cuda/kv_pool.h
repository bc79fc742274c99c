// SPDX-License-Identifier: Apache-2.0
// Keys or values of a problem in a slot of the arena: rows, then their scales.
#pragma once
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/paged_cache.h"
#include "kernels/reference.h"
#include "model/format.h"

namespace kvplan {

struct KvPool {
  const Format* format;
  std::int64_t width;
  std::int64_t offset;  // bytes from the start of the slot

  std::int64_t row_bytes() const { return payload_bytes(*format, 1, width).n; }
  std::int64_t scales_at(const PagedCache& cache) const {
    return offset + round_up(cache.rows() * row_bytes(), 256);
  }
  // The next pool's offset.
  std::int64_t end(const PagedCache& cache) const {
    return scales_at(cache) + round_up(cache.rows() * format->head_bytes, 256);
  }
};

// The rows of one head of one sequence, fetched from the device.
class HeadRows {
 public:
  HeadRows(Gpu&, const std::byte* slot, const KvPool&, const PagedCache&, std::int64_t sequence,
           std::int64_t head, std::int64_t tokens);
  RowReader reader() const;

 private:
  const Format* format_;
  std::int64_t row_bytes_;
  std::vector<std::byte> rows_, scales_;
};

}  // namespace kvplan
