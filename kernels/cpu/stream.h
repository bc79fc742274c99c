// SPDX-License-Identifier: Apache-2.0
// Reading and copying memory as fast as it goes: the measure of all other kernels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/cpu/isa.h"

namespace kvplan {

struct ReadKernel {
  std::string_view name;
  Isa isa;
  // Exclusive or of all 8-byte words; bytes is a multiple of 4096.
  std::uint64_t (*read)(const std::byte* from, std::size_t bytes);
};
struct CopyKernel {
  std::string_view name;
  Isa isa;
  void (*copy)(std::byte* to, const std::byte* from, std::size_t bytes);
};

// Variants; the fastest on this machine counts.
std::span<const ReadKernel> read_kernels();
std::span<const CopyKernel> copy_kernels();

}  // namespace kvplan
