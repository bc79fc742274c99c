// SPDX-License-Identifier: Apache-2.0
// PyTorch's allocator (c10/cuda/CUDACachingAllocator.cpp) and its collect_env.py.
#include <array>

#include "logs/notes.h"

namespace kvplan::logs {
namespace {

// "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.55 GiB of which
// 1.20 GiB is free."
void out_of_memory(StartLog& log, const Found& f) {
  Refusal refusal;
  refusal.cause = Refusal::out_of_memory;
  refusal.needed = size(f[0], unit_named(f[1]), 2, f.number);
  if (f.captures.count > 3) {
    refusal.device = "GPU " + std::string(f[2].substr(0, 8));
    if (const auto total = size(f[3], unit_named(f[4]), 2, f.number))
      see(log.device_memory, *total);
    refusal.available = size(f[5], unit_named(f[6]), 2, f.number);
  }
  refuse(log, f, std::move(refusal));
}

constexpr std::array kRows = {
    Row{"out of memory. Tried to allocate {n} {w}. GPU {n} has a total capacity of {n} {w} of "
        "which {n} {w} is free",
        out_of_memory},
    Row{"out of memory. Tried to allocate {n} {w} (", out_of_memory},
    Row{"GPU {n}: NVIDIA {*}", each<skip, device>},
    Row{"GPU {n}: AMD {*}", each<skip, device>},
};

}  // namespace

std::span<const Row> common_rows() { return kRows; }

}  // namespace kvplan::logs
