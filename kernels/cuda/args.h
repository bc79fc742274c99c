// SPDX-License-Identifier: Apache-2.0
// What kernels are told. Pointers are the device's.
#pragma once
#include <cstdint>

namespace kvplan {

constexpr int kChunkBytes = 16;  // what a thread loads at once

struct StreamArgs {
  const void* from = nullptr;
  void* to = nullptr;             // of a copy
  std::uint32_t* sums = nullptr;  // [grid · threads], of a read
  std::int64_t chunks = 0;        // of 16 bytes
};

}  // namespace kvplan
