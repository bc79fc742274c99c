// SPDX-License-Identifier: Apache-2.0
// The emulated device around the blocks: its memory, what is counted, and faults to plant.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvplan::emulation {

struct Counters {
  std::uint64_t bytes_loaded = 0;    // by streaming loads and asynchronous copies
  std::uint64_t bytes_stored = 0;    // by streaming stores
  std::uint64_t matrix_loads = 0;    // 8 x 8 matrices
  std::uint64_t bank_conflicts = 0;  // of them, those that take more than one pass
};

// To test that the tests find mistakes.
struct Faults {
  std::optional<int> barrier;  // this one (numbered in order of first arrival) is left out
  int wait_short = 0;  // so many groups of copies more may be in flight than the kernel says
};

struct Settings {
  bool descending = false;  // order of threads: results must not depend on it
  Faults faults;
  Counters counters;
  std::vector<std::string> barriers;             // sites seen
  std::map<std::uintptr_t, std::size_t> memory;  // allocations; empty: anything may be read

  void check(const void* at, std::size_t bytes) const {
    if (memory.empty()) return;
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    auto after = memory.upper_bound(address);
    if (after == memory.begin() || (--after)->first + after->second < address + bytes)
      throw std::runtime_error("device memory out of bounds");
    if (address % bytes != 0) throw std::runtime_error("misaligned access to device memory");
  }
};

}  // namespace kvplan::emulation
