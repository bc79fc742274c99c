// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/arena.h"

#include <algorithm>
#include <vector>

#include "kernels/cuda/kernels.h"
#include "kernels/problem.h"

namespace kvplan {
namespace {

constexpr std::int64_t kPattern = 16 * kMiB;  // made on the host, then repeated on the device
constexpr std::int64_t kLine = 1024;
constexpr std::int64_t kFewest = 3, kMost = 64;  // slots
constexpr std::int64_t kCaches = 4;

}  // namespace

GpuArena::GpuArena(Gpu& gpu, Bytes size, Bytes cache)
    : gpu_(gpu),
      size_(round_up(size.n, kLine)),
      flush_(round_up(2 * cache.n, kLine)),
      buffer_(gpu, size_ + 2 * flush_) {
  std::vector<std::byte> pattern(static_cast<std::size_t>(std::min(size_.n, kPattern)));
  fill_with_any_format(pattern, 0);
  gpu.upload(data(), pattern);
  for (std::int64_t at = kPattern; at < size_.n; at += kPattern)
    gpu.copy(data() + at, data(), Bytes(std::min(kPattern, size_.n - at)));
  gpu.finish();
}

void GpuArena::flush() const {
  StreamArgs args;
  args.from = data() + size_.n;
  args.to = data() + size_.n + flush_.n;
  args.chunks = flush_.n / kChunkBytes;
  gpu_.launch(copy_kernels_cuda().front(), {static_cast<unsigned>(8 * gpu_.limits().processors)},
              &args);
}

GpuSlots::GpuSlots(const GpuArena& arena, Bytes slot, Bytes cache)
    : base_(arena.data()), stride_(round_up(std::max<std::int64_t>(slot.n, 1), kLine)) {
  const std::int64_t fit = arena.size().n / stride_;
  if (fit == 0)
    throw Error("a problem is larger than the buffers of the CUDA kernels")
        .advise("Use a smaller shape, or a device with more free memory.");
  const std::int64_t wanted = std::max(kFewest, ceil_div(kCaches * cache.n, stride_));
  count_ = static_cast<int>(std::min({wanted, fit, kMost}));
  cold_ = count_ == wanted;
}

}  // namespace kvplan
