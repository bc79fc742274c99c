// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/arena.h"

#include <sys/mman.h>

#include <span>

#include "kernels/problem.h"

namespace kvplan {
namespace {

constexpr std::int64_t kHugePage = 2 * kMiB;
constexpr std::int64_t kLine = 256;  // places start on whole lines, and no two share one
// Filling by hash takes longer than reading, so a region repeats its first part.
constexpr std::int64_t kPattern = 16 * kMiB;

void fill_region(std::byte* region, std::size_t bytes, int thread) {
  const std::size_t pattern = std::min<std::size_t>(bytes, kPattern);
  fill_with_any_format({region, pattern}, static_cast<std::uint64_t>(thread) << 40);
  for (std::size_t at = pattern; at < bytes; at += pattern)
    std::copy_n(region, std::min(pattern, bytes - at), region + at);
}

}  // namespace

Arena::Arena(Team& team, Bytes size) : threads_(team.size()) {
  region_ = static_cast<std::size_t>(round_up(ceil_div(size.n, threads_), kHugePage));
  mapped_ = region_ * static_cast<std::size_t>(threads_) + kHugePage;
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping_ == MAP_FAILED)
    throw Error("no memory for the buffers of the CPU kernels").advise("Free some memory.");
  const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
  base_ = reinterpret_cast<std::byte*>((address + kHugePage - 1) / kHugePage * kHugePage);
  madvise(base_, mapped_ - kHugePage, MADV_HUGEPAGE);  // fewer page walks; a hint only
  team.run([this](int thread) { fill_region(region(thread), region_, thread); });
}

Arena::~Arena() { munmap(mapping_, mapped_); }

std::int64_t Arena::next(std::int64_t length) {
  if (cursor_ + length > region_bytes().n) cursor_ = 0;
  cursor_ += length;
  return cursor_ - length;
}

Place::Place(Arena& arena, Bytes bytes_per_thread)
    : arena_(arena), length_(round_up(std::max<std::int64_t>(bytes_per_thread.n, 1), kLine)) {
  if (length_ > arena.region_bytes().n)
    throw Error("a problem is larger than the buffers of the CPU kernels")
        .advise("Use a smaller shape, or a machine with more free memory.");
}

}  // namespace kvplan
