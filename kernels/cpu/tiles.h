// SPDX-License-Identifier: Apache-2.0
// The eight tiles of AMX: C[16][16] += A[16][k] · B[k][16], where B holds the two bf16 or the four
// bytes that meet in one product side by side. Intel 64 and IA-32 Architectures Software
// Developer's Manual, volume 1, chapter 18. Written as assembly, since intrinsics take no number of
// a tile that is a template's, and those of g++ 12 hide from the compiler that loads read memory.
#pragma once
#include <array>
#include <cstdint>

#include "kernels/cpu/isa.h"

namespace kvplan::tiles {

constexpr int kCount = 8, kRows = 16;
constexpr std::int64_t kRowBytes = 64, kBytes = kRows * kRowBytes;

// Tiles of this thread while it lives: rows and bytes of a row of each. Released tiles cost a
// switch of threads nothing.
class Shapes {
 public:
  KVPLAN_AMX Shapes() {
    for (int tile = 0; tile < kCount; ++tile) set(tile, kRows, kRowBytes);
    apply();
  }
  // A smaller A, B or C takes less time by its rows alone.
  KVPLAN_AMX void set(int tile, int rows, std::int64_t row_bytes) {
    const auto width = static_cast<std::uint8_t>(row_bytes),
               height = static_cast<std::uint8_t>(rows);
    changed_ = changed_ || bytes_[16 + 2 * tile] != width || bytes_[48 + tile] != height;
    bytes_[16 + 2 * tile] = width;
    bytes_[48 + tile] = height;
  }
  // Where something changed, clears all tiles.
  KVPLAN_AMX void apply() {
    if (changed_) asm volatile("ldtilecfg %0" : : "m"(bytes_));
    changed_ = false;
  }
  KVPLAN_AMX ~Shapes() { asm volatile("tilerelease"); }
  Shapes(const Shapes&) = delete;  // a thread has one set of tiles
  Shapes& operator=(const Shapes&) = delete;

 private:
  alignas(64) std::array<std::uint8_t, 64> bytes_ = {1};  // palette 1
  bool changed_ = false;
};

template <int kTile>
[[gnu::always_inline]] KVPLAN_AMX inline void clear() {
  asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
template <int kTile>
[[gnu::always_inline]] KVPLAN_AMX inline void load(const void* from, std::int64_t stride = 64) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(stride), "i"(kTile) : "memory");
}
template <int kTile>
[[gnu::always_inline]] KVPLAN_AMX inline void store(void* to, std::int64_t stride = 64) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(stride), "i"(kTile) : "memory");
}

// Tiles 0 to kTiles - 1 side by side.
template <int kTiles>
[[gnu::always_inline]] KVPLAN_AMX inline void clear_first() {
  if constexpr (kTiles > 0) {
    clear_first<kTiles - 1>();
    clear<kTiles - 1>();
  }
}
template <int kTiles>
[[gnu::always_inline]] KVPLAN_AMX inline void load_first(const float* from, std::int64_t stride) {
  if constexpr (kTiles > 0) {
    load_first<kTiles - 1>(from, stride);
    load<kTiles - 1>(from + (kTiles - 1) * kRows, stride);
  }
}
template <int kTiles>
[[gnu::always_inline]] KVPLAN_AMX inline void store_first(float* to, std::int64_t stride) {
  if constexpr (kTiles > 0) {
    store_first<kTiles - 1>(to, stride);
    store<kTiles - 1>(to + (kTiles - 1) * kRows, stride);
  }
}

// Pairs of bf16 add to fp32, whose denormal results become 0.
struct Bf16 {
  template <int kSum, int kA, int kB>
  [[gnu::always_inline]] KVPLAN_AMX static void add() {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }
};
// Four bytes, all signed, add to 32 bits.
struct Int8 {
  template <int kSum, int kA, int kB>
  [[gnu::always_inline]] KVPLAN_AMX static void add() {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSum), "i"(kA), "i"(kB));
  }
};

}  // namespace kvplan::tiles
