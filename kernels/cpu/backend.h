// SPDX-License-Identifier: Apache-2.0
// The CPU as a backend: always there.
#pragma once
#include <memory>
#include <optional>

#include "kernels/backend.h"
#include "kernels/cpu/isa.h"

namespace kvplan {

struct CpuOptions {
  int threads = 0;               // 0: one for each CPU that this process may use
  std::optional<Bytes> buffers;  // all threads together; empty: by cache size and free memory
  std::optional<Isa> isa;        // empty: the best there is
};

// Threads and buffers are made when the first problem is prepared.
std::unique_ptr<Backend> cpu_backend(const CpuOptions& = {});

}  // namespace kvplan
