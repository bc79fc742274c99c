// SPDX-License-Identifier: Apache-2.0
// A kernel as host code sees it, whether the device is real or emulated. Every kernel takes one
// struct of arguments by value.
#pragma once
#include <cstdint>

namespace kvplan {

struct Grid {
  unsigned x = 1, y = 1, z = 1;
};

struct Kernel {
  const char* name = "";
  void (*entry)() = nullptr;      // the device's: what port.cuh made of the function
  int threads = 0;                // of a block
  std::int64_t shared_bytes = 0;  // of a block
};

}  // namespace kvplan
